"""Reading order of a page: the file's own, unless it hops between two columns."""

import re
from collections.abc import Sequence
from itertools import pairwise

from ingest.parse.pdf.columns import column_of
from ingest.parse.pdf.lines import Block
from schemas.geometry import BBox

_NUMBERED = re.compile(r"\s*(\d{1,3})[.)]\s")


def box_of(block: Block) -> BBox:
    """Return the smallest box around the lines of a block."""
    union = block[0].bbox
    for line in block[1:]:
        union = union.union(line.bbox)
    return union


def order_blocks(blocks: Sequence[Block], gutter: float | None) -> tuple[Block, ...]:
    """Put blocks into reading order.

    Files mostly store text as it is read; sorting by height would weave columns into each other. Only
    where the file goes back from the right column to the left are columns read one after the other,
    between the blocks that span both. Numbers before headings or items decide where there are some.
    """
    boxes = [box_of(block) for block in blocks]
    returns = 0 if gutter is None else _returns(boxes, gutter)
    if gutter is None or not returns:
        return tuple(blocks)
    columns = _by_column(blocks, boxes, gutter)
    stored_steps, column_steps = _steps_back(blocks), _steps_back(columns)
    if stored_steps != column_steps:
        return columns if column_steps < stored_steps else tuple(blocks)
    return columns if returns > 1 else tuple(blocks)


def _by_column(blocks: Sequence[Block], boxes: Sequence[BBox], gutter: float) -> tuple[Block, ...]:
    band = 0
    keys: list[tuple[int, int, int]] = []
    for index, box in enumerate(boxes):
        spans = column_of(box, gutter) < 0
        band += spans
        keys.append((band, max(column_of(box, gutter), 0), index))
        band += spans
    return tuple(blocks[index] for _, _, index in sorted(keys))


def _returns(boxes: Sequence[BBox], gutter: float) -> int:
    """Count how often the file goes back from right to left between spanning blocks."""
    returns = 0
    was_right = False
    for box in boxes:
        column = column_of(box, gutter)
        returns += was_right and column == 0
        was_right = column == 1
    return returns


def _steps_back(blocks: Sequence[Block]) -> int:
    """Count the numbered blocks ("3. Title") that come after one with a higher number."""
    numbers = [int(found.group(1)) for block in blocks if (found := _NUMBERED.match(block[0].text))]
    return sum(below < above for above, below in pairwise(numbers))
