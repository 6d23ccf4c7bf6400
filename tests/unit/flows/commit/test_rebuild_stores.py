"""What a run makes again, decided by what is damaged."""

import pytest

from flows.commit.restore import Repair, choose_rebuild


@pytest.mark.parametrize(
    ("damaged", "repair"),
    [
        ([], Repair.NOTHING),
        (["authority/3.arrow"], Repair.AUTHORITY),
        (["links/ab12"], Repair.AUTHORITY),
        (["lance/chunks.lance/data/a.lance"], Repair.STORES),
        (["authority/3.arrow", "lance/nodes.lance/_refs/tags/gen-3.json"], Repair.STORES),
        (["chunks"], Repair.STORES),
    ],
)
def test_rows_are_written_again_only_where_a_store_is_damaged(damaged: list[str], repair: Repair) -> None:
    assert choose_rebuild(damaged) is repair
