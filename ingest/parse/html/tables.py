"""Tables: rows of cells with spans expanded; tables that only lay out a page are told apart."""

from collections.abc import Iterator
from dataclasses import dataclass

from lxml.html import HtmlElement

from ingest.parse.html.code import has_line_numbers
from ingest.parse.html.dom import class_words
from ingest.parse.html.inline import InlineText, OwnId, no_id, read_inline
from ingest.parse.html.visibility import is_hidden
from ingest.parse.outline import Anchor, LinkSpan

MAX_SPAN = 1_000
MAX_CELLS = 50_000
"""HTML itself caps colspan at 1,000; 2 KB of markup can ask for a billion cells."""

CELL_JOINT = " | "

_FLOW_INSIDE = ("table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "form")
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_LAYOUT_ROLES = frozenset({"presentation", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TableText:
    """A table as lines of cells, with its caption and the ids and links in it at their offsets.

    `header` is the length of the header rows that `text` begins with, 0 where there are none or nothing else.
    """

    text: str
    anchors: tuple[Anchor, ...]
    caption: str | None
    header: int = 0
    links: tuple[LinkSpan, ...] = ()
    caption_links: tuple[LinkSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    anchors: tuple[Anchor, ...] = ()
    links: tuple[LinkSpan, ...] = ()


def is_layout(table: HtmlElement) -> bool:
    """Whether a table is there for looks: it nests blocks, says so, has a single column, or frames a note."""
    around = table.getparent()
    is_note = around is not None and "admonitionblock" in class_words(around.get("class") or "")
    if is_note or (table.get("role") or "") in _LAYOUT_ROLES:
        return True
    if next(table.iterdescendants(*_FLOW_INSIDE), None) is not None:
        return True
    return all(len(row) < 2 for row in _rows(table))


def table_text(table: HtmlElement, *, own_id: OwnId = no_id) -> TableText:
    """Return a data table as lines, cells joined by " | ", spans repeated in every cell they cover."""
    caption = next((read_inline(child) for child in table if child.tag == "caption"), InlineText(""))
    lines: list[str] = []
    anchors: list[Anchor] = []
    links: list[LinkSpan] = []
    length = header = 0
    for row, is_header in _expanded(table, own_id):
        line = CELL_JOINT.join(cell.text for cell in row)
        if not any(cell.text for cell in row):
            continue
        at = length
        for cell in row:
            anchors.extend((at + offset, name) for offset, name in cell.anchors)
            links.extend((at + start, at + end, link) for start, end, link in cell.links)
            at += len(cell.text) + len(CELL_JOINT)
        if is_header and header == length:
            header += len(line) + 1
        lines.append(line)
        length += len(line) + 1
    header = header - 1 if 0 < header < length else 0
    return TableText(
        text="\n".join(lines),
        anchors=tuple(anchors),
        caption=caption.text or None,
        header=header,
        links=tuple(links),
        caption_links=caption.links,
    )


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from (row for row in child if row.tag == "tr")


def _expanded(table: HtmlElement, own_id: OwnId) -> Iterator[tuple[list[_Cell], bool]]:
    """Rows with spans filled in, and whether each is a header row.

    A cell that spans rows is pending in its column until they are done.
    """
    pending: dict[int, tuple[int, _Cell]] = {}
    left = MAX_CELLS
    for row in _rows(table):
        if is_hidden(row):
            continue
        cells, pending = _row(row, pending, left, own_id)
        yield cells, _is_header(row)
        left -= len(cells)


def _is_header(row: HtmlElement) -> bool:
    around = row.getparent()
    if around is not None and around.tag == "thead":
        return True
    return len(row) > 1 and all(cell.tag == "th" for cell in row)


def _row(
    row: HtmlElement, pending: dict[int, tuple[int, _Cell]], left: int, own_id: OwnId
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
        cell = _cell(element, own_id, row_anchor if not cells else ())
        for _ in range(max(1, min(_span(element, "colspan"), left - len(cells)))):
            place(cell, _span(element, "rowspan"))
            cell = _Cell(cell.text)
    place_pending()
    return cells, after


def _cell(element: HtmlElement, own_id: OwnId, row_anchor: tuple[Anchor, ...]) -> _Cell:
    cell = read_inline(element, own_id=own_id)
    anchors = (*row_anchor, *_anchor_at_start(element, own_id), *cell.anchors)
    return _Cell(cell.text, anchors, cell.links)


def _anchor_at_start(element: HtmlElement, own_id: OwnId) -> tuple[Anchor, ...]:
    name = own_id(element)
    return () if name is None else ((0, name),)


def _span(element: HtmlElement, name: str) -> int:
    stated = (element.get(name) or "1").strip()
    return min(max(int(stated), 1), MAX_SPAN) if stated.isdecimal() and len(stated) < 8 else 1
