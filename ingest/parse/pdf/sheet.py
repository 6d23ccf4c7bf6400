"""A page made ready to be read: running lines set aside, blocks in order, tables in place of their cells."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ingest.parse.pdf.columns import find_gutter
from ingest.parse.pdf.floats import Item, place_tables
from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.marginals import Margin, find_marginals
from ingest.parse.pdf.order import box_of, order_blocks
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.tables import Table

_LEAST_SIGNS = 20
_LEADER = re.compile(r"(?:\.\s{0,3}){5,}")
_LEAST_LEADERS = 5
_CONTENTS_SHARE = 0.25
_LEAST_PAGES_WITH_CONTENTS = 8
"""A page is contents or index when a quarter of its rows are dotted leaders, in a document of some pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """`items` in reading order; `lines` are those of its blocks, flat, without titles of tables.

    `gutter` is the x between two columns; `contents` marks a table of contents or an index.
    """

    page: PageContent
    items: tuple[Item, ...]
    lines: tuple[Line, ...]
    margins: tuple[tuple[Margin, Line], ...]
    gutter: float | None
    contents: bool

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Where in `lines` each block stands, as [start, end)."""
        found: list[tuple[int, int]] = []
        for item in self.items:
            if isinstance(item, tuple):
                start = found[-1][1] if found else 0
                found.append((start, start + len(item)))
        return tuple(found)


def build_sheets(pages: Sequence[PageContent]) -> tuple[Sheet, ...]:
    """Prepare all pages together: what runs through the margins shows only over many of them."""
    running = find_marginals(pages)
    long_enough = len(pages) >= _LEAST_PAGES_WITH_CONTENTS
    return tuple(_sheet(page, running, long_enough) for page in pages)


def _sheet(page: PageContent, running: Mapping[tuple[int, Line], Margin], may_hold_contents: bool) -> Sheet:
    margins: list[tuple[Margin, Line]] = []
    body: list[Block] = []
    for block in page.blocks:
        marks = [running.get((page.page_no, line)) for line in block]
        margins.extend((mark, line) for mark, line in zip(marks, block, strict=True) if mark)
        body.append(tuple(line for mark, line in zip(marks, block, strict=True) if not mark))
    blocks = [block for block in body if block]
    gutter = find_gutter([box_of(block) for block in blocks if _is_prose(block)], page.size.width)
    ordered = tuple(_with_tables(order_blocks(blocks, gutter), page.tables))
    items = place_tables(ordered, page.size.height)
    lines = tuple(line for item in items if isinstance(item, tuple) for line in item)
    return Sheet(
        page=page,
        items=items,
        lines=lines,
        margins=tuple(margins),
        gutter=gutter,
        contents=may_hold_contents and _is_contents(lines),
    )


def _is_prose(block: Block) -> bool:
    """Whether a block is long enough to show a column; characters of a formula lie anywhere."""
    return sum(len(line.text) for line in block) >= _LEAST_SIGNS


def _with_tables(blocks: Sequence[Block], tables: Sequence[Table]) -> Iterator[Block | Table]:
    """Put each table where its first line stood and drop the lines that are its cells."""
    placed: set[int] = set()
    for block in blocks:
        # Text that runs on below a table in one block does not reach around it.
        for home, lines in groupby(block, key=lambda line: _home(line, tables)):
            if home is None:
                yield tuple(lines)
            elif home not in placed:
                placed.add(home)
                yield tables[home]


def _home(line: Line, tables: Sequence[Table]) -> int | None:
    x, y = (line.bbox.x0 + line.bbox.x1) / 2, (line.bbox.y0 + line.bbox.y1) / 2
    for index, table in enumerate(tables):
        box = table.bbox
        if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1:
            return index
    return None


def _is_contents(lines: Sequence[Line]) -> bool:
    leaders = sum(_LEADER.search(line.text) is not None for line in lines)
    rows = sum(len(line.text.split()) > 1 for line in lines)
    return leaders >= _LEAST_LEADERS and leaders >= _CONTENTS_SHARE * rows
