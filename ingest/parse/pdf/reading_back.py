"""Whether the chunks of a PDF are printed where their boxes lie."""

from collections.abc import Iterator, Sequence

from ingest.parse.pdf.page import PageContent
from ingest.parse.round_trip import parent_texts, squeezed
from schemas.fragment import GraphFragment
from schemas.geometry import BBox
from schemas.nodes import Chunk
from schemas.redaction import REDACTED

_GROWN = 1.0
"""Points around a box: letters reach over the edge of their line."""


def look_up_texts(fragment: GraphFragment, pages: Sequence[PageContent]) -> Iterator[bool | None]:
    """Say for each chunk whether the lines in its box contain its text.

    None where that cannot be told: a secret of the text was hidden, or it was recognised on a picture. What
    the part of a table repeats of its header stands further up, and is not looked for.

    The lines are those that MuPDF gave, before they are joined, ordered and cut. Against its text of each box
    (`get_text("text", clip=box)`), which costs a reading a chunk, six of 4,230 chunks are judged otherwise:
    found, where letters of a neighbour reach into the box.
    """
    printed = {page.page_no: page.printed for page in pages}
    texts = parent_texts(fragment)
    for chunk in fragment.chunks:
        own = texts[chunk.region_id or ""][slice(*chunk.offsets)]
        lines = printed.get(chunk.page_no or 0, ())
        yield None if REDACTED in own or chunk.ocr_conf is not None else _is_printed(own, chunk, lines)


def _is_printed(text: str, chunk: Chunk, lines: Sequence[tuple[BBox, str]]) -> bool:
    box = chunk.bbox
    inside = "".join(words for line, words in lines if box is not None and _lies_in(line, box))
    return squeezed(text) in squeezed(inside)


def _lies_in(line: BBox, box: BBox) -> bool:
    """Whether the middle of a line does: its ends may reach over the edge of the page or of a table."""
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box.x0 - _GROWN <= x <= box.x1 + _GROWN and box.y0 - _GROWN <= y <= box.y1 + _GROWN
