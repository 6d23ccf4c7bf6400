"""Which texts that follow each other in the file stand together on the page too."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf

from ingest.parse.pdf.pictures import REACH
from schemas.geometry import BBox

Group = tuple[int, ...]
"""Positions in a sequence of boxes, in order."""

_MOST_BETWEEN = 200
"""Lines at the heights of two texts that are looked through for one between them; so many leave no room."""

_MOST_BEFORE = 200
"""Stretches before one, in the file, that are looked through for the labels beside it."""

_SLACK = 1.0
"""Points that the middle of a line may lie outside its own box, after rounding."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The middles (y, x) of all lines of a page, from its top."""

    middles: tuple[tuple[float, float], ...]

    def stands_between(self, one: BBox, other: BBox) -> bool:
        """Whether the smallest box around two holds a line that is in neither."""
        around = one.union(other)
        start = bisect_left(self.middles, (around.y0, -inf))
        end = bisect_right(self.middles, (around.y1, inf))
        return end - start > _MOST_BETWEEN or any(
            around.x0 <= x <= around.x1 and not _holds(one, x, y) and not _holds(other, x, y)
            for y, x in self.middles[start:end]
        )


def page_text(lines: Iterable[BBox]) -> PageText:
    """Return the text of a page by the boxes of its lines."""
    return PageText(tuple(sorted(((box.y0 + box.y1) / 2, (box.x0 + box.x1) / 2) for box in lines)))


def part_by_place(boxes: Sequence[BBox], labels: Sequence[bool], text: PageText) -> tuple[Group, ...]:
    """Part texts that follow each other so that no box around a part reaches over other text.

    A text goes on with the next unless another stands between the two. What then consists of short *labels*
    belongs together where it stands close, in whatever order a drawing stores its words. Parts come in the
    order of their first texts.
    """
    rows = list(_rows(boxes, text))
    stretches = list(_stretches(rows, boxes, text))
    areas = [_around(stretch, boxes) for stretch in stretches]
    scattered = [all(labels[at] for at in stretch) for stretch in stretches]
    groups: dict[int, list[int]] = {}
    for stretch, leader in zip(stretches, _leaders(areas, scattered), strict=True):
        groups.setdefault(leader, []).extend(stretch)
    return tuple(map(tuple, groups.values()))


def _rows(boxes: Sequence[BBox], text: PageText) -> Iterator[list[int]]:
    """Put together what stands side by side: below the end of a row comes the next, beside longer cells."""
    row: list[int] = []
    for at, box in enumerate(boxes):
        area = _around(row, boxes) if row else box
        if row and (not _stand_beside(area, box) or text.stands_between(area, box)):
            yield row
            row = []
        row.append(at)
    if row:
        yield row


def _stand_beside(one: BBox, other: BBox) -> bool:
    """Whether two share half the height of the lower: leading may be so tight that lines overlap."""
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    return 2 * shared > min(one.y1 - one.y0, other.y1 - other.y0)


def _stretches(rows: Sequence[list[int]], boxes: Sequence[BBox], text: PageText) -> Iterator[list[int]]:
    areas = [_around(row, boxes) for row in rows]
    stretch: list[int] = []
    for at, row in enumerate(rows):
        if at and text.stands_between(areas[at - 1], areas[at]):
            yield stretch
            stretch = []
        stretch.extend(row)
    if stretch:
        yield stretch


def _around(places: Sequence[int], boxes: Sequence[BBox]) -> BBox:
    return reduce(BBox.union, (boxes[at] for at in places))


def _leaders(areas: Sequence[BBox], scattered: Sequence[bool]) -> list[int]:
    """Name the group of each area by the first in it; running text is alone, and parts what is around it."""
    leaders = list(range(len(areas)))
    first = 0
    for at, area in enumerate(areas):
        if not scattered[at]:
            first = at + 1
            continue
        for before in range(max(first, at - _MOST_BEFORE), at):
            if _distance(areas[before], area) <= REACH:
                one, other = sorted((_leader(leaders, before), _leader(leaders, at)))
                leaders[other] = one
    return [_leader(leaders, at) for at in range(len(areas))]


def _leader(leaders: list[int], at: int) -> int:
    while leaders[at] != at:
        leaders[at] = leaders[leaders[at]]
        at = leaders[at]
    return at


def _distance(one: BBox, other: BBox) -> float:
    """The larger of two gaps: that beside and that above or below."""
    return max(one.x0 - other.x1, other.x0 - one.x1, one.y0 - other.y1, other.y0 - one.y1, 0.0)


def _holds(box: BBox, x: float, y: float) -> bool:
    return box.x0 - _SLACK <= x <= box.x1 + _SLACK and box.y0 - _SLACK <= y <= box.y1 + _SLACK
