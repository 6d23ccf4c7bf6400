"""When maintenance is due, by how tables lie on the disk."""

import pytest

from indexes.health import why_due
from schemas.health import TableFigures


def table(*, files: int = 1, rows: int = 100_000, deleted: int = 0, segments: int = 1) -> TableFigures:
    return TableFigures(files=files, rows=rows, deleted=deleted, segments=segments)


@pytest.mark.parametrize(
    ("chunks", "due"),
    [
        (table(), ()),
        (table(files=24, segments=8, deleted=15_000), ()),
        (table(files=25), ("chunks: 25 files",)),
        (table(segments=9), ("chunks: 9 segments in an index",)),
        (table(deleted=15_001), ("chunks: 15001 of 100000 rows in its files are deleted",)),
        (table(rows=30_000, deleted=5_000), ()),
        (table(rows=30_000, deleted=5_001), ("chunks: 5001 of 30000 rows in its files are deleted",)),
        (table(files=99, rows=19_999, deleted=9_000, segments=99), ()),
    ],
)
def test_maintenance_is_due_where_searches_or_runs_would_feel_it(
    chunks: TableFigures, due: tuple[str, ...]
) -> None:
    assert why_due({"chunks": chunks, "nodes": table()}) == due


def test_one_edit_of_a_small_index_makes_nothing_due() -> None:
    """As `sitegraph demo` leaves its tables: one section put into a manual that is a PDF as well."""
    after = {
        "chunks": table(files=2, rows=1_849, segments=2),
        "nodes": table(files=2, rows=6_616, deleted=1_736, segments=2),
        "edges": table(files=2, rows=23_786),
    }
    assert why_due(after) == ()
