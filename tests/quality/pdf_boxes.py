"""Whether the text of a chunk stands on its page where its box says, read again by pymupdf."""

import pymupdf

from schemas.fragment import GraphFragment
from schemas.nodes import Chunk
from tests.quality.pdf_documents import squeezed


def lost_chunks(pdf: bytes, fragment: GraphFragment) -> list[Chunk]:
    """Chunks whose text is not what lies inside their box, grown by a point."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        return [
            chunk for chunk in fragment.chunks if squeezed(chunk.text) not in squeezed(_at(document, chunk))
        ]


def _at(document: pymupdf.Document, chunk: Chunk) -> str:
    box = chunk.bbox
    assert box is not None
    assert chunk.page_no is not None
    clip = pymupdf.Rect(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1)
    return str(document[chunk.page_no - 1].get_text("text", clip=clip))
