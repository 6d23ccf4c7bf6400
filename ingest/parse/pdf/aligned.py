"""Tables without rulings, by how their texts line up: columns of figures, or columns below a caption."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ingest.parse.pdf.cells import TextCell, TextRow, is_table_caption, row_of
from ingest.parse.pdf.opening import around
from schemas.nodes import BBox

MAX_COLUMNS = 60
"""Columns above which a page is no table for readers, and looking for one takes long."""

_LEAST_ROWS = 3
_LEAST_FIGURES = 0.6
"""Rows of a column that must line up, and the share of its cells that must be figures."""

_LEAST_FILLED = 0.5
_LEAST_WORDED = 2
"""Share of the places of a table with a text, and how many of its texts have letters."""

_LEAST_COLUMNS, _MOST_COLUMNS = 3, 8
_SHORT_TEXT = 5
"""Columns of a table without figures, and words of a text in it; it has a row more than others."""

_LEAST_YEAR = 1000

_LINED_UP = 3.0
_LEAST_LINED_UP = 0.7
"""Points by which edges of cells in line differ, and the share of a column's cells that must be in line."""

_CORRIDOR = 2.0
_CROSSED = 0.1
"""Points that the white between two columns has at least, and the share of rows that may cross it."""

_PITCH = 2.6
_HEAD_PITCH = 1.8
"""Distances of rows, in distances usual in a table, over which another row still belongs to it."""

_SENTENCE = 9
"""Words of a row in one piece that make it prose between tables."""

_RUNNING = 3
_LEAST_RUNNING = 0.5
"""Words of a text that begins in lower case, and the share of such in a column, which make it prose."""

_CAPTION_REACH = 4
"""Rows between a table and its caption, at most: the title goes on, units, a head that is cut off."""

_LEADER = re.compile(r"(?:\.\s?){4,}|(?:_\s?){4,}|…{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Rows that are one table, and the x at which its columns part, from left to right."""

    rows: tuple[TextRow, ...]
    bounds: tuple[float, ...]

    @property
    def bbox(self) -> BBox:
        """The smallest box around the rows."""
        return around(row.bbox for row in self.rows)

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Cells row by row; one that reaches over several columns stands at its first."""
        return tuple(tuple(_texts(row, self.bounds)) for row in self.rows)


def find_plain(rows: Sequence[TextRow]) -> tuple[Aligned, ...]:
    """Return the tables of short texts, without figures or a caption, whose rows fill all columns."""
    runs = [[rows[index] for index in run] for run in _runs(rows)]
    found = (Aligned(rows=tuple(run), bounds=_bounds(run)) for run in runs if len(run) > _LEAST_ROWS)
    return tuple(table for table in found if _is_full(table))


def _is_full(table: Aligned) -> bool:
    width = len(table.bounds) + 1
    lists = [
        [cell for row in table.rows for cell in row.cells if cell_column(cell, table.bounds) == at]
        for at in range(width)
    ]
    return (
        _LEAST_COLUMNS <= width <= _MOST_COLUMNS
        and all(len(row.cells) == width for row in table.rows)
        and all(len(cells) == len(table.rows) for cells in lists)
        and all(_in_line([cell.bbox.x0 for cell in cells]) for cells in lists)
        and all(len(cell.text.split()) <= _SHORT_TEXT for row in table.rows for cell in row.cells)
        and _is_filled(table.rows, table.bounds)
    )


def find_aligned(rows: Sequence[TextRow]) -> tuple[Aligned, ...]:
    """Return the tables among the rows of a column of text, or of a page without columns.

    A table has rows with cells apart whose edges line up, and figures in two columns, or in one column
    below or above a caption; with a caption, three columns of texts will do.
    """
    return tuple(table for run in _runs(rows) if (table := _table(rows, run)) is not None)


def _runs(rows: Sequence[TextRow]) -> Iterator[range]:
    """Ranges of rows close to each other, each beginning and ending with cells apart, free of prose."""
    parted = [index for index, row in enumerate(rows) if len(row.cells) > 1 and not _LEADER.search(row.text)]
    first = last = None
    for index in parted:
        if first is None or last is None:
            first = last = index
        elif _goes_on(rows, last, index):
            last = index
        else:
            yield range(first, last + 1)
            first = last = index
    if first is not None and last is not None:
        yield range(first, last + 1)


def _goes_on(rows: Sequence[TextRow], last: int, index: int) -> bool:
    # What names a row may run over several lines; prose reaches below the figures.
    room = min(rows[last].cells[1].bbox.x0, rows[index].cells[1].bbox.x0)
    if any(_parts_tables(row) and not _names_row(row, room) for row in rows[last + 1 : index]):
        return False
    # Without a look at the table's own pitch: a row of type is about 1.2 heights from the next.
    return all(
        below.bbox.y0 - above.bbox.y1 < _PITCH * (above.bbox.y1 - above.bbox.y0)
        for above, below in pairwise(rows[last : index + 1])
    )


def _names_row(row: TextRow, room: float) -> bool:
    return row.bbox.x1 <= room and not is_table_caption(row.text)


def _parts_tables(row: TextRow) -> bool:
    return is_table_caption(row.text) or max(len(cell.text.split()) for cell in row.cells) >= _SENTENCE


def _table(rows: Sequence[TextRow], run: range) -> Aligned | None:
    core = [rows[index] for index in run if len(rows[index].cells) > 1]
    bounds = _bounds(core)
    if len(core) < _LEAST_ROWS or not 0 < len(bounds) < MAX_COLUMNS:
        return None
    if side := _beside_prose(core, bounds):
        inside = [row for row in (_cut(rows[index], side) for index in run) if row]
        return next(iter(find_aligned(inside)), None)
    captioned = _has_caption(rows, run)
    figures = {column for column in range(len(bounds) + 1) if _is_figure_column(core, bounds, column)}
    if not _is_filled(core, bounds):
        return None
    if len(figures) >= 2 or (captioned and (figures or (len(bounds) >= 2 and _is_short(core)))):
        return _trimmed(Aligned(rows=_with_head(rows, run, core), bounds=bounds), figures)
    return None


def _beside_prose(core: Sequence[TextRow], bounds: Sequence[float]) -> tuple[float, float] | None:
    """Where the table is that prose runs beside, as an x on its left and its right.

    On its right a column of figures must remain beside another: what a row is about may be told at its end.
    """
    if _is_prose(core, bounds, 0):
        return bounds[0], float("inf")
    figures = [column for column in range(len(bounds)) if _is_figure_column(core, bounds, column)]
    if len(figures) > 1 and _is_prose(core, bounds, len(bounds)):
        return float("-inf"), bounds[-1]
    return None


def _is_prose(core: Sequence[TextRow], bounds: Sequence[float], column: int) -> bool:
    texts = [cell.text for row in core for cell in row.cells if cell_column(cell, bounds) == column]
    running = sum(text[0].islower() and len(text.split()) >= _RUNNING for text in texts)
    return running >= _LEAST_RUNNING * len(texts)


def _cut(row: TextRow, side: tuple[float, float]) -> TextRow | None:
    cells = tuple(cell for cell in row.cells if side[0] <= _middle(cell) <= side[1])
    return row_of(cells) if cells else None


def _trimmed(table: Aligned, figures: Collection[int]) -> Aligned | None:
    """Leave out rows at the edges without a text in a column of figures: a heading with its number."""
    if not figures:
        return table
    said = [
        index
        for index, row in enumerate(table.rows)
        if any(cell_column(cell, table.bounds) in figures for cell in row.cells)
    ]
    return replace(table, rows=table.rows[said[0] : said[-1] + 1])


def _bounds(core: Sequence[TextRow]) -> tuple[float, ...]:
    """The middles of the white stripes that nearly no row crosses, between columns of two cells or more."""
    crossed = int(_CROSSED * len(core))
    edges = sorted(
        edge for row in core for cell in row.cells for edge in ((cell.bbox.x0, 1), (cell.bbox.x1, -1))
    )
    found: list[float] = []
    depth = 0
    for (x, step), (after, _) in pairwise(edges):
        depth += step
        if depth <= crossed and after - x >= _CORRIDOR:
            found.append((x + after) / 2)
    return _without_bare(core, tuple(found)) if len(found) < MAX_COLUMNS else ()


def _without_bare(core: Sequence[TextRow], bounds: tuple[float, ...]) -> tuple[float, ...]:
    kept: list[float] = []
    for bound in bounds:
        left = kept[-1] if kept else float("-inf")
        if sum(any(left < _middle(cell) < bound for cell in row.cells) for row in core) >= 2:
            kept.append(bound)
    while kept and sum(any(_middle(cell) > kept[-1] for cell in row.cells) for row in core) < 2:
        kept.pop()
    return tuple(kept)


def _middle(cell: TextCell) -> float:
    return (cell.bbox.x0 + cell.bbox.x1) / 2


def cell_column(cell: TextCell, bounds: Sequence[float]) -> int:
    """The first column that a cell stands in."""
    return bisect_left(bounds, cell.bbox.x0 + _CORRIDOR / 2)


def _is_figure_column(core: Sequence[TextRow], bounds: Sequence[float], column: int) -> bool:
    cells = [cell for row in core for cell in row.cells if cell_column(cell, bounds) == column]
    figures = [cell for cell in cells if cell.is_figure]
    said = sum(cell.is_figure or cell.stands_in for cell in cells)
    if len(figures) < _LEAST_ROWS or said < _LEAST_FIGURES * len(cells):
        return False
    if not column and _counts_up([cell.text for cell in figures]):
        return False
    return any(
        _in_line([edge(cell) for cell in figures])
        for edge in (lambda cell: cell.bbox.x1, lambda cell: cell.bbox.x0, _middle)
    )


def _counts_up(texts: Sequence[str]) -> bool:
    """Whether they number rows or chapters; years do not."""
    numbers = [int(text.rstrip(".")) for text in texts if text.rstrip(".").isdecimal()]
    rises = all(below > above for above, below in pairwise(numbers))
    return len(numbers) == len(texts) and rises and numbers[-1] < _LEAST_YEAR


def _is_filled(core: Sequence[TextRow], bounds: Sequence[float]) -> bool:
    """Whether most places hold a text and some of them words: axes of plots do not."""
    places = sum(len({cell_column(cell, bounds) for cell in row.cells}) for row in core)
    worded = sum(any(char.isalpha() for char in cell.text) for row in core for cell in row.cells)
    return places >= _LEAST_FILLED * len(core) * (len(bounds) + 1) and worded >= _LEAST_WORDED


def _in_line(places: Sequence[float]) -> bool:
    middle = median(places)
    return sum(abs(place - middle) <= _LINED_UP for place in places) >= _LEAST_LINED_UP * len(places)


def _is_short(core: Sequence[TextRow]) -> bool:
    return median(len(cell.text) for row in core for cell in row.cells) <= 40


def _has_caption(rows: Sequence[TextRow], run: range) -> bool:
    near = (*rows[max(run[0] - _CAPTION_REACH, 0) : run[0]], *rows[run[-1] + 1 : run[-1] + 3])
    return any(is_table_caption(row.text) for row in near)


def _with_head(rows: Sequence[TextRow], run: range, core: Sequence[TextRow]) -> tuple[TextRow, ...]:
    """Add the rows above that name columns but have one cell only, as a year over two of them."""
    left = min(row.bbox.x0 for row in core)
    first = run[0]
    while first > 0 and _heads(rows[first - 1], rows[first], core[0], left):
        first -= 1
    return tuple(rows[first : run[-1] + 1])


def _heads(row: TextRow, below: TextRow, top: TextRow, left: float) -> bool:
    near = below.bbox.y0 - row.bbox.y1 < (_HEAD_PITCH - 1) * (row.bbox.y1 - row.bbox.y0)
    over = row.bbox.x0 > top.cells[0].bbox.x1 and row.bbox.x0 > left + _LINED_UP
    return near and over and not _parts_tables(row)


def _texts(row: TextRow, bounds: Sequence[float]) -> Iterator[str]:
    for column in range(len(bounds) + 1):
        yield " ".join(cell.text for cell in row.cells if cell_column(cell, bounds) == column)
