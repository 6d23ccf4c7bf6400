"""Tables in a bucket that fails: what is told of it, and answers that are lost."""

import pyarrow as pa
import pytest
from lancedb.table import Table

from indexes.places import index_place
from indexes.stores.lance.tables import connect, name_version, store_errors
from schemas.errors import StoreUnavailable
from tests.fakes.object_fault_proxy import Fault, FaultyStorage

ROWS = pa.table({"id": ["one", "two"]})


@pytest.fixture
def table(bucket_url: str, storage: FaultyStorage) -> Table:
    """A table behind the proxy."""
    return connect(index_place(f"{bucket_url}/index", patience=4) / "lance").create_table("chunks", ROWS)


def test_a_name_whose_answer_was_lost_is_not_taken_for_that_of_another(
    table: Table, storage: FaultyStorage
) -> None:
    storage.break_after(Fault.LOSE)

    name_version(table, "gen-1", table.version)

    assert storage.failed == 1
    assert table.tags.list()["gen-1"]["version"] == table.version


def test_a_name_that_another_version_has_is_given_to_this_one(table: Table) -> None:
    name_version(table, "gen-1", table.version)
    table.add(ROWS)

    name_version(table, "gen-1", table.version)

    assert table.tags.list()["gen-1"]["version"] == table.version


@pytest.mark.parametrize("fault", [Fault.DOWN, Fault.HANG, Fault.DENY])
def test_a_bucket_that_fails_is_told_by_name_with_what_to_check(
    table: Table, storage: FaultyStorage, bucket_url: str, fault: Fault
) -> None:
    storage.break_after(fault, after=-1)

    with (
        pytest.raises(StoreUnavailable, match="check the name of the bucket") as caught,
        store_errors("chunks"),
    ):
        table.add(ROWS)

    assert bucket_url.removeprefix("s3://") in str(caught.value)
    assert "pruned" not in str(caught.value)
