"""When maintenance is due, by how tables lie on the disk."""

import pytest

from indexes.maintenance import why_due
from schemas.maintenance import TableFigures


def table(*, files: int = 1, rows: int = 10_000, deleted: int = 0, segments: int = 1) -> TableFigures:
    return TableFigures(files=files, rows=rows, deleted=deleted, segments=segments)


@pytest.mark.parametrize(
    ("chunks", "due"),
    [
        (table(), ()),
        (table(files=24, segments=8, deleted=1_500), ()),
        (table(files=25), ("chunks: 25 files",)),
        (table(segments=9), ("chunks: 9 segments in an index",)),
        (table(deleted=1_501), ("chunks: 1501 of 10000 rows in its files are deleted",)),
        (table(files=99, rows=900, deleted=800, segments=99), ()),
    ],
)
def test_maintenance_is_due_where_searches_or_runs_would_feel_it(
    chunks: TableFigures, due: tuple[str, ...]
) -> None:
    assert why_due({"chunks": chunks, "nodes": table()}) == due
