"""Ctrl-C and SIGTERM inside the drivers, which make errors of their own of what a handler raises."""

from collections.abc import Iterator
from pathlib import Path

import lancedb
import pyarrow as pa
import pytest

from indexes.stores.lance.tables import store_errors

lance = pytest.importorskip("lance")


def rows(stop: BaseException) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"id": ["a"]})
        raise stop

    return pa.RecordBatchReader.from_batches(pa.schema({"id": pa.string()}), batches())


@pytest.mark.parametrize("stop", [SystemExit(143), KeyboardInterrupt()], ids=repr)
def test_a_signal_while_rows_are_written_ends_the_program(stop: BaseException, tmp_path: Path) -> None:
    with pytest.raises(type(stop)) as by_pylance, store_errors("t"):
        lance.write_dataset(rows(stop), str(tmp_path / "by_pylance"))
    with pytest.raises(type(stop)) as by_lancedb, store_errors("t"):
        lancedb.connect(tmp_path).create_table("by_lancedb", rows(stop))
    assert by_pylance.value.args == by_lancedb.value.args == stop.args
