"""What a run makes again, decided by what is damaged."""

import pytest

from flows.commit.repair import Mending, plan_mending


@pytest.mark.parametrize(
    ("damaged", "mending"),
    [
        ([], Mending.NOTHING),
        (["authority/3.arrow"], Mending.AUTHORITY),
        (["lance/chunks.lance/data/a.lance"], Mending.STORES),
        (["authority/3.arrow", "lance/nodes.lance/_refs/tags/gen-3.json"], Mending.STORES),
        (["chunks"], Mending.STORES),
    ],
)
def test_rows_are_written_again_only_where_a_store_is_damaged(damaged: list[str], mending: Mending) -> None:
    assert plan_mending(damaged) is mending
