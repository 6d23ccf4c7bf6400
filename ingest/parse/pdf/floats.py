"""Tables where they stand among the text: many files store them, with their titles, last on the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from math import inf

from ingest.parse.pdf.captions import is_caption
from ingest.parse.pdf.headings import numbered_depth
from ingest.parse.pdf.lines import Block
from ingest.parse.pdf.pictures import REACH
from ingest.parse.pdf.tables import Table
from schemas.geometry import BBox

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
        box, level = reduce(BBox.union, rows), all(line.upright for line in item)
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
