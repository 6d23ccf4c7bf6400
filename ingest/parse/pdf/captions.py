"""Regions before they have ids, with the captions and labels that belong to tables and pictures."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.parse.chunk_spans import ChunkSpan
from ingest.parse.pdf.cells import is_table_caption
from ingest.parse.pdf.joining import JoinedLines
from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.order import box_of
from ingest.parse.pdf.pictures import REACH, Picture, gap_between
from schemas.nodes import BBox, RegionType

_LABEL = re.compile(
    r"\s*(?:Figure|Fig\.|Table|Listing|Example)\s+[\dA-Z]+(?:[-.][\dA-Z]+)*\s*[:.\u2014-]", re.IGNORECASE
)
_MOST_LINES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A region before it has an id. `spans` of its text become chunks.

    `digest` names the content of a picture, which has no text. `bookmark` is the height on the page that a
    heading's bookmark points to; `contents` marks a table of contents or an index. `terms` name the
    entries of definition lists that it stands in, outermost first; `number` is that of its heading.
    """

    type: RegionType
    page_no: int
    bbox: BBox
    joined: JoinedLines
    spans: tuple[ChunkSpan, ...] = ()
    heading_path: tuple[str, ...] = ()
    confidence: float = 0.0
    digest: str = ""
    caption: str = ""
    bookmark: float | None = None
    contents: bool = False
    terms: tuple[str, ...] = ()
    number: str = ""


def is_caption(lines: Sequence[Line]) -> bool:
    """Whether a block is a caption: short, and it begins as "Figure 2-1:" or "Table 3 Prices" do."""
    first = lines[0].text
    return len(lines) <= _MOST_LINES and (_LABEL.match(first) is not None or is_table_caption(first))


def with_captions(regions: Sequence[Region]) -> tuple[Region, ...]:
    """Tie each caption to the nearest table or picture right above or below it on its page.

    The line of a table's unit is a caption too; what belongs to one table is said in the order of the page.
    """
    captions: dict[int, str] = {}
    pages: dict[int, list[int]] = defaultdict(list)
    for index, region in enumerate(regions):
        if region.type in (RegionType.TABLE, RegionType.FIGURE):
            pages[region.page_no].append(index)
    for index, region in enumerate(regions):
        if region.type is not RegionType.CAPTION:
            continue
        captions[index] = region.joined.text
        near = [(gap_between(region.bbox, regions[at].bbox), at) for at in pages[region.page_no]]
        gap, nearest = min(near, default=(REACH + 1, index))
        if gap <= REACH:
            above = captions.get(nearest)
            captions[nearest] = f"{above} {region.joined.text}" if above else region.joined.text
    return tuple(
        replace(region, caption=captions[index]) if index in captions else region
        for index, region in enumerate(regions)
    )


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
