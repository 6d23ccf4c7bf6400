"""XLSX (ECMA-376): each sheet is a section, and what stands together on it a table with its header."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product, takewhile
from zipfile import ZipFile

from ingest.parse.chunking import MAX_TOKENS, CountTokens
from ingest.parse.formats.opc import saved_at
from ingest.parse.formats.workbook import (
    EXCEL,
    Area,
    Place,
    SheetCell,
    Workbook,
    Worksheet,
    open_workbook,
    read_worksheet,
    reference_to,
)
from ingest.parse.links import FoundLink
from ingest.parse.outline import MAX_HEADING, Block, BoxEnd, BoxStart, Heading, Part, cut_heading
from schemas.edges import LinkPosition
from schemas.formats import ParseTools
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import DateOrigin

_JOINT = " | "
_MOST_HEADER = MAX_TOKENS // 3
"""Tokens of a header that passages repeat; below a longer one, each cell has the name of its column."""

_MOST_ROWS = 3
"""Rows that name several columns at once."""

_MOST_TITLE = 120
"""Characters of a cell alone over a table that is its title."""

_MOST_FILLED = 200_000
"""Cells of a sheet that get their text because they are merged with another; beyond, none do."""

_SPARSE = 50
"""Cells for each that is filled, from which on those between them are no empty cells of a table."""

_LOOKED_BACK = 50
"""Regions before one, among which is that above it."""

_NEAR = 2
"""Rows from the last one of a region to the first of what may belong to it: one between them is empty."""

_YEARS = range(1900, 2101)
_TOP = 50
"""Rows in which a workbook may say who may see it."""

Row = tuple[SheetCell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRegion:
    """What stands together on a sheet, from row `top` to `bottom`, and from column `left` on, as shown.

    `header`: how many of the `rows` name its columns, if the file says so.
    """

    rows: tuple[Row, ...]
    top: int
    bottom: int
    left: int
    header: int | None = None

    @property
    def is_table(self) -> bool:
        """Whether there are rows and columns."""
        return len(self.rows) > 1 and self.width > 1

    def shares_columns(self, other: "CellRegion") -> bool:
        """Whether both stand in a column."""
        return self.left < other.left + other.width and other.left < self.left + self.width

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self.rows[-1])

    @property
    def first(self) -> SheetCell:
        """The first cell that is not empty."""
        return next(cell for row in self.rows for cell in row if cell)


def shown_cells(sheet: Worksheet) -> dict[Place, SheetCell]:
    """Return the cells that are shown, by their place among these; merged ones have the text of the first."""
    cells, room = dict(sheet.cells), _MOST_FILLED
    for top, left, bottom, right in sheet.merged:
        first, size = sheet.cells.get((top, left)), (bottom - top + 1) * (right - left + 1)
        if first and 0 < size <= room:
            cells.update(dict.fromkeys(product(range(top, bottom + 1), range(left, right + 1)), first))
            room -= size
    rows, columns = sorted(sheet.hidden_rows), sorted(sheet.hidden_columns)
    return {
        (row - bisect_left(rows, row), column - bisect_left(columns, column)): cell
        for (row, column), cell in cells.items()
        if not sheet.hides((row, column))
    }


def find_regions(sheet: Worksheet) -> tuple[CellRegion, ...]:
    """Return tables, and what else stands apart by empty rows and columns, in reading order.

    What goes on behind an empty row under the same columns, and does not begin as a table does, is the same
    table. A cell alone over a table belongs to it.
    """
    kept: list[CellRegion] = []
    for region in sorted(_stretches(sheet), key=lambda one: (one.top, one.left)):
        near = range(len(kept) - 1, max(-1, len(kept) - 1 - _LOOKED_BACK), -1)
        above = next((at for at in near if kept[at].shares_columns(region)), None)
        joined = None if above is None else _joined(kept[above], region)
        if above is None or joined is None:
            kept.append(region)
        else:
            kept[above] = joined
    return tuple(kept)


def _stretches(sheet: Worksheet) -> Iterator[CellRegion]:
    """Yield each region, first what the file says is a table."""
    left = shown_cells(sheet)
    for area, header in sheet.tables:
        own = {at: one for at, one in left.items() if _is_inside(one.place, area)}
        left = {at: one for at, one in left.items() if at not in own}
        if own:
            yield _region(own, own, header)
    waiting = [list(left)] if left else []
    while waiting:
        places = waiting.pop()
        parts = next((runs for axis in (0, 1) if len(runs := _runs(places, axis)) > 1), None)
        if parts is None:
            yield _region(places, left, None)
        waiting.extend(parts or ())


def _is_inside(place: Place, area: Area) -> bool:
    return area[0] <= place[0] <= area[2] and area[1] <= place[1] <= area[3]


def _runs(places: list[Place], axis: int) -> list[list[Place]]:
    """Cut places where a row, or a column, is empty."""
    ordered = sorted(places, key=lambda place: place[axis])
    cuts = [at for at, (one, other) in enumerate(pairwise(ordered), 1) if other[axis] - one[axis] > 1]
    return [ordered[start:end] for start, end in pairwise((0, *cuts, len(ordered)))]


def _region(places: Collection[Place], cells: Mapping[Place, SheetCell], header: int | None) -> CellRegion:
    by_row: dict[int, dict[int, SheetCell]] = {}
    for row, column in places:
        by_row.setdefault(row, {})[column] = cells[row, column]
    left, last = min(column for _, column in places), max(column for _, column in places)
    is_dense = (last - left + 1) * len(by_row) <= _SPARSE * len(places)
    rows = tuple(
        tuple(map(own.get, range(left, last + 1) if is_dense else sorted(own)))
        for _, own in sorted(by_row.items())
    )
    stated = header if is_dense else 0
    return CellRegion(rows=rows, top=min(by_row), bottom=max(by_row), left=left, header=stated)


def _joined(before: CellRegion, after: CellRegion) -> CellRegion | None:
    """Both as one, if the second goes on with the first, or is a table with the first as its title."""
    if after.top - before.bottom > _NEAR:
        return None
    goes_on = before.is_table and (before.left, before.width) == (after.left, after.width)
    if goes_on and after.header is None and not _heads(after.rows[0]):
        return replace(before, rows=before.rows + after.rows, bottom=after.bottom)
    is_title = len(before.rows) == 1 and _is_alone(before.rows[0]) and len(before.first.text) <= _MOST_TITLE
    if is_title and after.is_table and not _is_title(after.rows[0]):
        return replace(after, rows=((before.first,), *after.rows), top=before.top)
    return None


def _is_alone(row: Row) -> bool:
    """Whether all of a row is one cell."""
    return len({cell for cell in row if cell}) == 1


def _is_title(row: Row) -> bool:
    """Whether a row is one cell, from the first column on."""
    return row[0] is not None and _is_alone(row)


def _spans(row: Row) -> bool:
    """Whether one cell is merged over all columns."""
    return len(row) > 1 and None not in row and _is_alone(row)


def _heads(row: Row) -> bool:
    """Whether a row may name columns: it is no number, but for years."""
    filled = [cell for cell in row if cell]
    names = (not cell.is_number or (cell.text.isdecimal() and int(cell.text) in _YEARS) for cell in filled)
    is_first = row[0] is None or not row[0].is_number
    return is_first and len(set(filled)) > 1 and 2 * len(filled) >= len(row) and all(names)


def _groups(row: Row) -> bool:
    """Whether a row has names that stand over several columns each."""
    are_names = all(cell is None or not cell.is_number for cell in row)
    return are_names and any(one is other and one for one, other in pairwise(row))


def _header_of(rows: Sequence[Row]) -> int:
    """How many rows name the columns: those that name several at once, and one below them."""
    over = sum(1 for _ in takewhile(_groups, rows[: min(_MOST_ROWS, len(rows) - 1)]))
    return over + (over < len(rows) - 1 and _heads(rows[over]))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes a sheet."""

    name: str
    sheet: Worksheet
    count: CountTokens

    def parts(self) -> Iterator[Part]:
        """Yield the sheet as a section, and each table with a title as one below it."""
        regions = find_regions(self.sheet)
        if regions:
            yield Heading(text=self.name, level=1, fragment=reference_to(self.name, (1, 1)))
        for region in regions:
            above = list(takewhile(_is_title, region.rows)) if region.is_table else []
            above = above if len(above) < len(region.rows) else []
            texts = [cell.text for row in above for cell in row[:1] if cell]
            start = reference_to(self.name, region.first.place)
            is_titled = bool(texts) and len(texts[0]) <= _MOST_TITLE
            if is_titled:
                yield from (BoxStart(), Heading(text=texts[0], level=2, fragment=start))
            yield from (Block(text=text) for text in texts[is_titled:])
            yield self._block(region.rows[len(above) :], region.header, start)
            if is_titled:
                yield BoxEnd()

    def _block(self, rows: Sequence[Row], stated: int | None, start: str) -> Block:
        """Write rows, one a line."""
        header = (_header_of(rows) if stated is None else stated) if len(rows) > 1 else 0
        names = _names_of(rows[:header]) if header < len(rows) else []
        labels = names if self.count(_JOINT.join(names)) > _MOST_HEADER else []
        if labels and all(len(name) <= MAX_HEADING for name in labels):
            rows, header = rows[header:], 0
        lines = [_line(row, labels if at >= header else ()) for at, row in enumerate(rows)]
        texts = [_JOINT.join(text for text, _ in line) for line in lines]
        links, keys, at = [], [], 0
        for number, line in enumerate(lines):
            if header <= number < len(lines) - 1 and _spans(rows[number]) and not _spans(rows[number + 1]):
                keys.append((at, at + len(texts[number])))
            for text, cell in line:
                if cell and cell.place in self.sheet.links:
                    links.append((at, at + len(text), (self.name, cell.place)))
                at += len(text) + len(_JOINT)
            at += 1 - len(_JOINT) if line else 1
        length = sum(len(text) + 1 for text in texts[:header]) - 1
        return Block(
            text="\n".join(texts),
            anchors=((0, start),),
            links=tuple(links),
            header=max(length, 0) if not labels and header < len(rows) else 0,
            keys=tuple(keys) if header and not labels else (),
        )


def _names_of(header: Sequence[Row]) -> list[str]:
    """The name of each column, from all rows of the header."""
    columns = zip(*header, strict=True)
    return [" ".join(dict.fromkeys(cell.text for cell in column if cell)) for column in columns]


def _line(row: Row, labels: Sequence[str]) -> list[tuple[str, SheetCell | None]]:
    """What a row says, cell by cell; one that is a single cell says it once."""
    if labels:
        named = zip(map(cut_heading, labels), row, strict=True)
        return [(f"{name}: {cell.text}" if name else cell.text, cell) for name, cell in named if cell]
    filled = [at for at, cell in enumerate(row) if cell]
    last = 0 if _spans(row) else max(filled)
    return [(cell.text if cell else "", cell) for cell in row[: last + 1]]


def _parse(data: bytes, request: ParseRequest, tools: ParseTools) -> GraphFragment:
    from ingest.parse.html.whole import assemble_document
    from ingest.parse.page_graph import file_name

    archive = EXCEL.open_package(data, subject=request.uri)
    book = open_workbook(archive, subject=request.uri)
    sheets = [(name, read_worksheet(book, part)) for name, part, is_hidden in book.sheets if not is_hidden]
    parts = [part for name, sheet in sheets for part in _Writer(name, sheet, tools.count_tokens).parts()]
    links = tuple(
        FoundLink(href, sheet.cells[place].text, LinkPosition.BODY, key=(name, place))
        for name, sheet in sheets
        for place, href in sheet.links.items()
        if place in sheet.cells and not sheet.hides(place)
    )
    tools.left_out.add(_left_out(book, [sheet for _, sheet in sheets]))
    return assemble_document(
        tuple(parts),
        links,
        request=request,
        kind=FORMAT.name,
        title=file_name(request),
        modified=saved_at(archive, DateOrigin.XLSX, subject=request.uri),
        warnings=tuple(_warnings(book, [sheet for _, sheet in sheets])),
        count_tokens=tools.count_tokens,
    )


def _hidden(sheet: Worksheet, axis: int) -> list[SheetCell]:
    """What stands in hidden rows, for axis 0, or columns."""
    hidden = (sheet.hidden_rows, sheet.hidden_columns)[axis]
    return [cell for cell in sheet.cells.values() if cell.place[axis] in hidden]


def _left_out(book: Workbook, sheets: Sequence[Worksheet]) -> Iterator[tuple[str, str]]:
    for axis, what in enumerate(("hidden rows", "hidden columns")):
        yield what, "\n".join(cell.text for sheet in sheets for cell in _hidden(sheet, axis))
    for name, part, is_hidden in book.sheets:
        if is_hidden:
            cells = read_worksheet(book, part).cells.values()
            yield "hidden sheets", "\n".join((name, *(cell.text for cell in cells)))


def _warnings(book: Workbook, sheets: Sequence[Worksheet]) -> Iterator[str]:
    """Say how many sheets are hidden, how many rows and columns with cells, and what has no value."""
    lines = ([len({one.place[axis] for one in _hidden(sheet, axis)}) for sheet in sheets] for axis in (0, 1))
    counts = (sum(is_hidden for _, _, is_hidden in book.sheets), *map(sum, lines))
    told = zip(("sheets", "rows", "columns"), counts, strict=True)
    if any(counts):
        yield f"left out as hidden: {', '.join(f'{what} {count}' for what, count in told if count)}"
    if unvalued := sum(sheet.unvalued for sheet in sheets):
        yield f"formulas without a value in the file: {unvalued}; save it with a program that calculates them"


def _top_rows(archive: ZipFile) -> Iterator[str]:
    """Yield the first rows: a cell each, or two with the groups in the second."""
    book = open_workbook(archive, subject="")
    for _, part, _ in book.sheets[:1]:
        rows: dict[int, list[str]] = {}
        for cell in read_worksheet(book, part, rows=_TOP).cells.values():
            rows.setdefault(cell.place[0], []).append(cell.text)
        yield "\n\n".join((": " if len(texts) == 2 else "; ").join(texts) for texts in rows.values())


FORMAT = EXCEL.format("xlsx", _parse, _top_rows, old_type="application/vnd.ms-excel")
