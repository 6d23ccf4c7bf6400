"""Whether the text of a chunk stands on its page where its box says, read again by pymupdf."""

from collections.abc import Mapping

import pymupdf

from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, PdfRegion
from tests.quality.pdf_documents import squeezed


def lost_chunks(pdf: bytes, fragment: GraphFragment) -> list[Chunk]:
    """Chunks whose text is not what lies inside their box, grown by a point.

    The header that a part of a table repeats stands further up, and is looked for in the table's text.
    """
    texts = {node.id: node.text for node in fragment.nodes if isinstance(node, PdfRegion)}
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        return [chunk for chunk in fragment.chunks if not _is_found(document, chunk, texts)]


def _is_found(document: pymupdf.Document, chunk: Chunk, texts: Mapping[str, str]) -> bool:
    whole = texts[str(chunk.region_id)]
    own = whole[slice(*chunk.offsets)]
    header = chunk.text.removesuffix(own)
    return squeezed(own) in squeezed(_at(document, chunk)) and whole.startswith(header)


def _at(document: pymupdf.Document, chunk: Chunk) -> str:
    box = chunk.bbox
    assert box is not None
    assert chunk.page_no is not None
    clip = pymupdf.Rect(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1)
    return str(document[chunk.page_no - 1].get_text("text", clip=clip))
