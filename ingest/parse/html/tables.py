"""Tables: rows of cells with spans expanded; tables that only lay out a page are told apart."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from ingest.parse.html.code import code_text, has_line_numbers
from ingest.parse.html.dom import HEADING_LEVELS, classes_of
from ingest.parse.html.inline import InlineText, OwnId, no_id, read_inline
from ingest.parse.html.visibility import count_all_words, holds_tag, is_hidden, raw_text, word_set
from ingest.parse.outline import LINE_JOINT, Anchor, Block, Heading, LinkSpan, Part

MAX_SPAN = 1_000
MAX_CELLS = 50_000
"""HTML itself caps colspan at 1,000; 2 KB of markup can ask for a billion cells."""

CELL_JOINT = " | "

MAX_CELL, MAX_LINES = 120, 12
"""Words and lines of code of a cell; one that has more is a part of a page, set beside another."""

_MAX_KEY = 80
"""Characters of a row that stands over those below; a longer one says something about the table."""

_FLOW_INSIDE = ("table", "pre", *HEADING_LEVELS, "form")
_RICH = word_set("pre table ul ol dl")
_BOLD = ("b", "strong", "th")
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_LAYOUT_ROLES = frozenset({"presentation", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TableText:
    """A table as lines of cells, with its caption and the ids and links in it at their offsets.

    `header` is the length of the header rows that `text` begins with, 0 where there are none or nothing else;
    `keys` are the rows that stand over those after them.
    """

    text: str
    anchors: tuple[Anchor, ...]
    caption: str | None
    header: int = 0
    keys: tuple[tuple[int, int], ...] = ()
    links: tuple[LinkSpan, ...] = ()
    caption_links: tuple[LinkSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    anchors: tuple[Anchor, ...] = ()
    links: tuple[LinkSpan, ...] = ()
    rows: tuple[str, ...] = ()
    """Those of a table in it, where it is more than one."""


ReadCell = Callable[[HtmlElement], Sequence[Part]]
"""Reads a cell in which more stands than running text."""


def is_layout(table: HtmlElement) -> bool:
    """Whether a table is there for looks: it nests blocks, says so, has a single column, or frames a note."""
    around = table.getparent()
    is_note = around is not None and "admonitionblock" in classes_of(around)
    if is_note or (table.get("role") or "") in _LAYOUT_ROLES:
        return True
    inside = {node.tag for node in table.iterdescendants(*_FLOW_INSIDE)}
    rows = list(_rows(table))
    return all(len(row) < 2 for row in rows) or (bool(inside) and not _is_of_data(rows, inside))


def _is_of_data(rows: list[HtmlElement], inside: set[str]) -> bool:
    """Whether a table holds data, though there are blocks in it: its columns have names, and cells are short.

    Without names, lines of code may stand in it.
    """
    if "form" in inside or any(map(_is_long, (cell for row in rows for cell in row))):
        return False
    if any(map(_is_header, rows)):
        return True
    is_even = len(rows) > 1 and len({len(row) for row in rows}) == 1
    listings = (pre for row in rows for pre in row.iter("pre"))
    return inside == {"pre"} and is_even and not any("\n" in code_text(pre).text for pre in listings)


def _is_long(cell: HtmlElement) -> bool:
    if has_line_numbers(cell) or count_all_words(cell) > MAX_CELL:
        return True
    return any(raw_text(pre).count("\n") >= MAX_LINES for pre in cell.iter("pre"))


def table_text(table: HtmlElement, *, own_id: OwnId = no_id, read_cell: ReadCell | None = None) -> TableText:
    """Return a data table as lines, cells joined by " | ", spans repeated in every cell they cover.

    What spans a whole row stands there once. A table in a cell has a line for each of its rows, which repeats
    the other cells.
    """
    caption = next((read_inline(child) for child in table if child.tag == "caption"), InlineText(""))
    lines = _Lines()
    rows = [row for row in _expanded(table, own_id, read_cell) if any(cell.text for cell in row.cells)]
    width = max((len(row.cells) for row in rows), default=0)
    for at, row in enumerate(rows):
        after = rows[at + 1] if at + 1 < len(rows) else None
        is_title = row.is_whole and not lines.text and after is not None and after.is_header
        is_key = not is_title and width > 1 and _stands_over(row, after)
        lines.add(row, is_header=row.is_header or is_title, is_key=is_key)
    header = lines.header - 1 if 0 < lines.header < lines.length else 0
    return TableText(
        text="\n".join(lines.text),
        anchors=tuple(lines.anchors),
        caption=caption.text or None,
        header=header,
        keys=tuple(lines.keys) if header else (),
        links=tuple(lines.links),
        caption_links=caption.links,
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with spans filled in; one that is `whole` is a single cell that spans all columns."""

    cells: list[_Cell]
    is_header: bool
    is_whole: bool
    is_bold: bool


def _stands_over(row: _Row, after: _Row | None) -> bool:
    """Whether a row names those after it."""
    text = row.cells[0].text
    is_alone = row.is_whole or (row.is_bold and not any(cell.text for cell in row.cells[1:]))
    return (
        is_alone
        and not row.is_header
        and after is not None
        and not after.is_whole
        and 0 < len(text) <= _MAX_KEY
    )


class _Lines:
    """The lines of a table while they are made."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.anchors: list[Anchor] = []
        self.links: list[LinkSpan] = []
        self.keys: list[tuple[int, int]] = []
        self.length = self.header = 0

    def add(self, row: _Row, *, is_header: bool, is_key: bool) -> None:
        """Add a row."""
        cells = row.cells[:1] if row.is_whole or is_key else row.cells
        start = at = self.length
        for cell in cells:
            self.anchors.extend((at + offset, name) for offset, name in cell.anchors)
            self.links.extend((at + start, at + end, link) for start, end, link in cell.links)
            at += len(cell.text) + len(CELL_JOINT)
        if is_header and self.header == self.length:
            self.header += sum(len(line) + 1 for line in _lines_of(cells))
        for line in _lines_of(cells):
            self.text.append(line)
            self.length += len(line) + 1
        if is_key:
            self.keys.append((start, self.length - 1))


def _lines_of(cells: list[_Cell]) -> Iterator[str]:
    """Yield a line for each row of the table that stands in one of the cells; one where none does."""
    nested = next((place for place, cell in enumerate(cells) if cell.rows), None)
    for row in ("",) if nested is None else cells[nested].rows:
        yield CELL_JOINT.join(row if place == nested else cell.text for place, cell in enumerate(cells))


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from (row for row in child if row.tag == "tr")


def _expanded(table: HtmlElement, own_id: OwnId, read_cell: ReadCell | None) -> Iterator[_Row]:
    """Rows with spans filled in.

    A cell that spans rows is pending in its column until they are done.
    """
    pending: dict[int, tuple[int, _Cell]] = {}
    left = MAX_CELLS
    for row in _rows(table):
        if is_hidden(row):
            continue
        is_free = not pending
        cells, pending = _row(row, pending, left, own_id, read_cell)
        own = [cell for cell in row if cell.tag in {"td", "th"}]
        is_whole = is_free and len(own) == 1 and len(cells) > 1
        yield _Row(cells, _is_header(row), is_whole, bool(own) and _is_bold(own[0]))
        left -= len(cells)


def _is_bold(cell: HtmlElement) -> bool:
    if cell.tag == "th":
        return True
    return len(cell) == 1 and cell[0].tag in _BOLD and not f"{cell.text or ''}{cell[0].tail or ''}".strip()


def _is_header(row: HtmlElement) -> bool:
    around = row.getparent()
    if around is not None and around.tag == "thead":
        return True
    return len(row) > 1 and all(cell.tag == "th" for cell in row)


def _row(
    row: HtmlElement,
    pending: dict[int, tuple[int, _Cell]],
    left: int,
    own_id: OwnId,
    read_cell: ReadCell | None,
) -> tuple[list[_Cell], dict[int, tuple[int, _Cell]]]:
    cells: list[_Cell] = []
    row_anchor = _anchor_at_start(row, own_id)
    after: dict[int, tuple[int, _Cell]] = {}

    def place(cell: _Cell, rows: int) -> None:
        if rows > 1:
            after[len(cells)] = (rows - 1, _Cell(cell.text))
        cells.append(cell)

    def place_pending() -> None:
        while len(cells) in pending and len(cells) < left:
            rows, cell = pending[len(cells)]
            place(cell, rows)

    for element in row:
        if element.tag not in {"td", "th"} or is_hidden(element) or has_line_numbers(element):
            continue
        place_pending()
        cell = _cell(element, own_id, row_anchor if not cells else (), read_cell)
        for _ in range(max(1, min(_span(element, "colspan"), left - len(cells)))):
            place(cell, _span(element, "rowspan"))
            cell = _Cell(cell.text)
    place_pending()
    return cells, after


def _cell(
    element: HtmlElement, own_id: OwnId, row_anchor: tuple[Anchor, ...], read_cell: ReadCell | None
) -> _Cell:
    is_rich = read_cell is not None and next(element.iterdescendants(*_RICH), None) is not None
    if is_rich and read_cell:
        cell = _joined(read_cell(element))
    else:
        cell = read_inline(element, own_id=own_id, with_figures=True)
    anchors = (*row_anchor, *_anchor_at_start(element, own_id), *cell.anchors)
    rows = tuple(cell.text.split("\n")) if is_rich and holds_tag(element, "table") else ()
    return _Cell(cell.text, tuple(dict.fromkeys(anchors)), cell.links, rows if len(rows) > 1 else ())


def _joined(parts: Sequence[Part]) -> InlineText:
    """Put what stands in a cell on one line, but for lines of code and rows of a table."""
    text, anchors, links = "", list[Anchor](), list[LinkSpan]()
    for part in parts:
        if not isinstance(part, Block | Heading) or not part.text:
            continue
        is_item = isinstance(part, Block) and part.joint == LINE_JOINT and not part.is_title
        is_code = isinstance(part, Block) and (part.solid or CELL_JOINT in part.text)
        text += ("\n" if is_code and "\n" in part.text else "; " if is_item else " ") if text else ""
        own = part.text if is_code else " ".join(part.text.split())
        own = own.removeprefix("- ")
        if isinstance(part, Block):
            cut = len(part.text) - len(own)
            anchors += [(len(text) + max(0, at - cut), name) for at, name in part.anchors]
            links += [
                (len(text) + max(0, start - cut), len(text) + max(0, end - cut), link)
                for start, end, link in part.links
            ]
        text += own
    return InlineText(text, tuple(anchors), tuple(links))


def _anchor_at_start(element: HtmlElement, own_id: OwnId) -> tuple[Anchor, ...]:
    name = own_id(element)
    return () if name is None else ((0, name),)


def _span(element: HtmlElement, name: str) -> int:
    stated = (element.get(name) or "1").strip()
    return min(max(int(stated), 1), MAX_SPAN) if stated.isdecimal() and len(stated) < 8 else 1
