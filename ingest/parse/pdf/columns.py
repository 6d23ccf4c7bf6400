"""Two columns of text on a page, and the white between them."""

from collections.abc import Sequence
from statistics import median

from schemas.geometry import BBox

_LEAST_BLOCKS = 2
"""Blocks that each column must have before a gap between them is called a gutter."""

_LEAST_WIDTH = 0.25
"""Share of the page width that half of a column's blocks must have: terms and definitions are no columns."""


def column_of(box: BBox, gutter: float | None) -> int:
    """Return 0 for the left or only column, 1 for the right one, -1 for what spans both."""
    if gutter is None or box.x1 <= gutter:
        return 0
    return -1 if box.x0 < gutter else 1


def find_gutter(boxes: Sequence[BBox], width: float) -> float | None:
    """Find the vertical line in the middle third that most blocks keep clear of, with blocks beside it."""
    best: tuple[int, float] | None = None
    for x in sorted({box.x0 - 1 for box in boxes if width / 3 <= box.x0 <= 2 * width / 3}):
        sides = [box for box in boxes if box.x1 <= x], [box for box in boxes if box.x0 >= x]
        fewest = min(map(len, sides))
        beside = sum(map(len, sides))
        if fewest < _LEAST_BLOCKS or len(boxes) - beside > fewest:
            continue
        if all(median(box.x1 - box.x0 for box in side) >= _LEAST_WIDTH * width for side in sides):
            best = max(best or (0, x), (beside, x))
    return best[1] if best else None
