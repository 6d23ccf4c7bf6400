"""Labels: texts too short to be read alone, as those in a drawing are."""

from collections.abc import Sequence

from ingest.parse.pdf.lines import Block
from ingest.parse.pdf.order import box_of
from ingest.parse.pdf.pictures import Picture
from schemas.geometry import BBox

LABEL = 60
"""Code points."""


def drawings_of_labels(
    pictures: Sequence[Picture], blocks: Sequence[Block], *, body: float
) -> tuple[BBox, ...]:
    """Return the boxes of the drawings that hold labels alone; *body* is the size of running text.

    A shaded panel and the figure in it are one drawing too, but large type in it stands over text.
    """
    drawings = [picture.bbox for picture in pictures if picture.is_drawn]
    running = [box_of(block) for block in blocks if _is_running(block, body)] if drawings else []
    return tuple(one for one in drawings if not any(one.holds_middle_of(text) for text in running))


def _is_running(block: Block, body: float) -> bool:
    """Whether a block is text to be read: an explanation in a drawing is one line, in type of its own."""
    longer = len(" ".join(line.text.strip() for line in block)) > LABEL
    return longer and (len(block) > 1 or block[0].size == body)
