"""A page made ready to be read: running lines set aside, blocks in order, tables where they belong."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, groupby
from math import inf

from ingest.parse.pdf.captions import is_caption
from ingest.parse.pdf.headings import numbered_depth
from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.opening import around
from ingest.parse.pdf.order import box_of, find_gutter, order_blocks
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.pictures import REACH
from ingest.parse.pdf.tables import Table
from schemas.nodes import BBox

STRIP = 0.08
"""Share of the page height, at top and bottom, in which running headers and footers stand."""

LEAST_PAGES = 3
LEAST_SHARE = 0.3
"""What runs returns on 3 pages, and on 30 % of the left or of the right pages."""

_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-\u2013\u2014\s]*(?:#|[ivxlc]{1,7})[-\u2013\u2014\s]*(?:(?:of|/)\s*#)?", re.IGNORECASE
)

_HUGE = 36.0
"""Points of type across a page, as "DRAFT" is set."""

_MOST_DIGITS = 4
"""Digits of a page number, at most."""


class Margin(StrEnum):
    """Which strip a running line stands in."""

    HEADER = "header"
    FOOTER = "footer"


@dataclass(frozen=True, slots=True)
class _MarginPlace:
    """A strip, a distance from its edge of the page (in steps of 3 pt) and a size of type."""

    margin: Margin
    step: int
    size: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line in a strip; `key` is its text with digits taken as equal, `alone`: so is its block."""

    page: PageContent
    line: Line
    place: _MarginPlace
    key: str
    alone: bool


def find_marginals(pages: Sequence[PageContent]) -> dict[tuple[int, Line], Margin]:
    """Return the running lines, by page number and line.

    A line runs when its text returns often enough in its place. A place runs when enough pages hold there
    a returning text or a page number; then all blocks in it run, also the title of a one-page chapter.
    """
    candidates = [found for page in pages for found in _in_strips(page)]
    seen: dict[tuple[_MarginPlace, str], set[int]] = defaultdict(set)
    for one in candidates:
        seen[one.place, one.key].add(one.page.page_no)
    evidence: dict[_MarginPlace, set[int]] = defaultdict(set)
    for one in candidates:
        returns = len(seen[one.place, one.key]) >= LEAST_PAGES and any(map(str.isalnum, one.key))
        if one.alone and (returns or _PAGE_NUMBER.fullmatch(one.key)):
            evidence[one.place].add(one.page.page_no)
    texts = {text for text, numbers in seen.items() if len(text[1]) > 2 and _runs(numbers, pages)}
    places = {place for place, numbers in evidence.items() if _runs(numbers, pages)}
    running = {
        (one.page.page_no, one.line): one.place.margin
        for one in candidates
        if (one.place, one.key) in texts or (one.alone and (one.place in places or _is_own_number(one)))
    }
    return {**running, **_numbers_at_the_end(pages), **_watermarks(pages)}


def _watermarks(pages: Sequence[PageContent]) -> dict[tuple[int, Line], Margin]:
    """Return what stands askew, or is huge, in one place of many pages; on the first of them it is read."""
    seen: dict[tuple[str, int, int], list[tuple[int, Line]]] = defaultdict(list)
    for page in pages:
        for line in (line for block in page.blocks for line in block):
            if not line.upright or line.size >= _HUGE:
                key = " ".join(line.text.split()), round(line.bbox.x0 / 6), round(line.bbox.y0 / 6)
                seen[key].append((page.page_no, line))
    marks = (found[1:] for found in seen.values() if _runs({page_no for page_no, _ in found}, pages))
    return {mark: Margin.FOOTER for found in marks for mark in found}


def _numbers_at_the_end(pages: Sequence[PageContent]) -> dict[tuple[int, Line], Margin]:
    """Return the page numbers that end their page: in the strip, or where they count on, anywhere.

    They count on where as many pages as make a line run print a number that is as far from their own. In the
    strip one more page is enough, or the page's own number: a lone number may be a value that ends a text.
    """
    ends = [(page, *end) for page in pages if (end := _number_at_the_end(page)) is not None]
    ahead = Counter(number - page.page_no for page, _, number in ends)
    return {
        (page.page_no, line): Margin.FOOTER
        for page, line, number in ends
        if (count := ahead[number - page.page_no]) >= LEAST_PAGES
        or (line.bbox.y0 >= page.size.height * (1 - STRIP) and (count > 1 or number == page.page_no))
    }


def _number_at_the_end(page: PageContent) -> tuple[Line, int] | None:
    """Return the number that stands alone below all else on a page, and its value."""
    lines = [line for block in page.blocks for line in block]
    last = max(lines, key=lambda line: line.bbox.y0, default=None)
    if last is None or len(lines) == 1 or (last,) not in page.blocks:
        return None
    middle = (last.bbox.y0 + last.bbox.y1) / 2
    printed = _DIGITS.search(last.text)
    is_number = _PAGE_NUMBER.fullmatch(_DIGITS.sub("#", " ".join(last.text.split())))
    if printed is None or is_number is None or len(printed.group()) > _MOST_DIGITS:
        return None
    is_last = all(line is last or line.bbox.y1 <= middle for line in lines)
    return (last, int(printed.group())) if is_last else None


def _in_strips(page: PageContent) -> Iterator[_Candidate]:
    top, bottom = page.size.height * STRIP, page.size.height * (1 - STRIP)
    for block in page.blocks:
        alone = all(line.bbox.y1 <= top for line in block) or all(line.bbox.y0 >= bottom for line in block)
        for line in block:
            place = _margin_place(line, page.size.height, top, bottom)
            if place is not None:
                key = _DIGITS.sub("#", " ".join(line.text.split()))
                yield _Candidate(page, line, place, key, alone)


def _margin_place(line: Line, height: float, top: float, bottom: float) -> _MarginPlace | None:
    if line.bbox.y1 <= top:
        return _MarginPlace(Margin.HEADER, round(line.bbox.y1 / 3), line.size)
    if line.bbox.y0 >= bottom:
        return _MarginPlace(Margin.FOOTER, round((height - line.bbox.y0) / 3), line.size)
    return None


def _runs(numbers: set[int], pages: Sequence[PageContent]) -> bool:
    if len(numbers) < LEAST_PAGES:
        return False
    for parity in (0, 1):
        total = sum(page.page_no % 2 == parity for page in pages)
        if total and sum(number % 2 == parity for number in numbers) >= LEAST_SHARE * total:
            return True
    return False


def _is_own_number(one: _Candidate) -> bool:
    printed = one.line.text.strip(" -\u2013\u2014")
    return bool(_PAGE_NUMBER.fullmatch(one.key)) and printed in {str(one.page.page_no), one.page.label}


_MOST_LINES = 2
"""Lines of a block that may be a heading, or part of a title."""

_LEAST_TEXT = 120
"""Letters of three lines in a narrow column; a footer, which may be stored first, has fewer."""

_FOOT = 0.9
"""Share of the height of a page below which footers stand."""

_NEAR = 2.0
"""Times the size of its type that a title stands above its table, and a note below."""

_ABOVE, _BESIDE, _BELOW = -1, 0, 1


@dataclass(frozen=True, slots=True)
class Title:
    """What a file stores with a table apart from the text: it names the table and opens no section."""

    lines: Block


Item = Block | Table | Title


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """An item on the page; `first` and `last` are the heights of its rows or lines, if they are level."""

    item: Item
    box: BBox
    first: float = -inf
    last: float = inf

    def side_of(self, other: BBox) -> int:
        """On which side of a box it stands; what is turned or in another column is beside it."""
        if self.box.x1 <= other.x0 or other.x1 <= self.box.x0:
            return _BESIDE
        return _ABOVE if self.last < other.y0 else _BELOW if self.first > other.y1 else _BESIDE


def place_tables(items: Sequence[Block | Table], height: float) -> tuple[Item, ...]:
    """Move each table that comes after text of its column below it to before that, with title and notes.

    *height* is that of the page.
    """
    if not any(isinstance(item, Table) for item in items):
        return tuple(items)
    placed = [_place(item) for item in items]
    for at, item in enumerate(items):
        if isinstance(item, Table) and placed[at].last < inf:
            _move_up(placed, at, height)
    return tuple(place.item for place in placed)


def _place(item: Block | Table) -> _Place:
    if isinstance(item, Table):
        box, rows = item.bbox, item.boxes
        # The rows of a table on its side all have its box.
        level = rows[0] != rows[-1]
    else:
        rows = tuple(line.bbox for line in item)
        box, level = around(rows), all(line.upright for line in item)
    if not level:
        return _Place(item=item, box=box)
    heights = [(row.y0 + row.y1) / 2 for row in rows]
    return _Place(item=item, box=box, first=min(heights), last=max(heights))


def _move_up(placed: list[_Place], at: int, height: float) -> None:
    start = _start_of_title(placed, at)
    to = _find_place(placed[:start], placed[at].box, top=placed[start].box)
    if to == start:
        return
    title, passed = [_as_title(place) for place in placed[start:at]], placed[to:start]
    end = _end_of_notes(placed, at, passed[0].box)
    if _is_apart(title, passed, placed[end:], height):
        placed[to:end] = [*title, *placed[at:end], *passed]


def _start_of_title(placed: Sequence[_Place], at: int) -> int:
    start = at
    while (
        start and _may_be_title(placed[start - 1]) and _is_near(placed[start - 1], placed[start].box, _ABOVE)
    ):
        start -= 1
    return start


def _find_place(before: Sequence[_Place], table: BBox, *, top: BBox) -> int:
    """Before which item least text is on the wrong side of a table; behind all, if no place is better.

    That is also where text comes right before the *top* of it, or of its title, and stands right above.
    """
    wrong = list(accumulate((place.side_of(table) for place in before), initial=0))
    least = min(wrong)
    if wrong[-1] == least or _is_near(before[-1], top, _ABOVE):
        return len(before)
    best = max(at for at, count in enumerate(wrong) if count == least)
    # A heading may be too short to reach below the table.
    while best and _is_short(before[best - 1]) and before[best - 1].box.y0 > table.y1:
        best -= 1
    return best


def _is_apart(
    title: Sequence[_Place], passed: Sequence[_Place], after: Sequence[_Place], height: float
) -> bool:
    """Whether it is the table that is out of place, and not the text that it would move past.

    There is more of that than of the title, and of what comes after the table and stands above that text.
    Where it may be a footer, or the title may be a heading, it must be some lines.
    """
    named = [place for place in title if isinstance(place.item, Title)]
    top = min(place.box.y0 for place in passed)
    above = [place for place in after if isinstance(place.item, tuple) and place.last < top]
    letters = _letters(passed)
    is_sure = letters >= _LEAST_TEXT or (not named and top < _FOOT * height)
    return is_sure and _letters([*named, *above]) < letters


def _end_of_notes(placed: Sequence[_Place], at: int, next_: BBox) -> int:
    """Where what stands right below a table ends, and above the text that is to come next."""
    end = at + 1
    while end < len(placed) and _is_near(placed[end], placed[end - 1].box, _BELOW):
        if _is_bold(placed[end]) or placed[end].side_of(next_) != _ABOVE:
            break
        end += 1
    return end


def _is_near(place: _Place, other: BBox, side: int) -> bool:
    """Whether text stands on a side of something, and not far from it."""
    if not isinstance(place.item, tuple) or place.side_of(other) != side:
        return False
    reach = REACH if is_caption(place.item) else _NEAR * place.item[0].size
    return max(other.y0 - place.box.y1, place.box.y0 - other.y1) <= reach


def _is_short(place: _Place) -> bool:
    return isinstance(place.item, tuple) and len(place.item) <= _MOST_LINES


def _may_be_title(place: _Place) -> bool:
    if not isinstance(place.item, tuple):
        return False
    return is_caption(place.item) or (_is_short(place) and not numbered_depth(place.item[0].text))


def _as_title(place: _Place) -> _Place:
    if not isinstance(place.item, tuple) or is_caption(place.item):
        return place
    return replace(place, item=Title(place.item))


def _is_bold(place: _Place) -> bool:
    return isinstance(place.item, tuple) and all(line.bold for line in place.item)


def _letters(places: Iterable[_Place]) -> int:
    return sum(len(text) for place in places for text in _texts(place.item))


def _texts(item: Item) -> list[str]:
    if isinstance(item, Table):
        return [cell for row in item.rows for cell in row]
    return [line.text for line in (item.lines if isinstance(item, Title) else item)]


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
    holding = (index for index, table in enumerate(tables) if table.bbox.holds_middle_of(line.bbox))
    return next(holding, None)


def _is_contents(lines: Sequence[Line]) -> bool:
    leaders = sum(_LEADER.search(line.text) is not None for line in lines)
    rows = sum(len(line.text.split()) > 1 for line in lines)
    return leaders >= _LEAST_LEADERS and leaders >= _CONTENTS_SHARE * rows
