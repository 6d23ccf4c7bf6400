"""Whether the text of a chunk stands on its page where its box says, read again by pymupdf."""

from collections import Counter
from collections.abc import Mapping

import pymupdf

from schemas.fragment import GraphFragment
from schemas.nodes import Chunk, PdfRegion, RegionType
from tests.quality.pdf_documents import squeezed


def lost_chunks(pdf: bytes, fragment: GraphFragment) -> list[Chunk]:
    """Chunks whose text is not what lies inside their box, grown by a point.

    Text is found as it runs, or word by word, each as often as the box prints it: a file may store a table
    column by column, and a neighbour's lines between those of a paragraph. The header that a part of a table
    repeats stands further up, and is looked for in the table's text.
    """
    regions = {node.id: node for node in fragment.nodes if isinstance(node, PdfRegion)}
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        return [chunk for chunk in fragment.chunks if not _is_found(document, chunk, regions)]


def _is_found(document: pymupdf.Document, chunk: Chunk, regions: Mapping[str, PdfRegion]) -> bool:
    region = regions[str(chunk.region_id)]
    own = region.text[slice(*chunk.offsets)]
    if not all(line in region.text for line in chunk.text.removesuffix(own).splitlines()):
        return False
    if region.region_type is not RegionType.TABLE and squeezed(own) in squeezed(_at(document, chunk)):
        return True
    whole = _at(document, chunk)
    missing = Counter(map(squeezed, own.split())) - Counter(map(squeezed, whole.split()))
    # What one reading parts at a gap or a hyphen, another may join.
    return len(squeezed(own)) <= len(squeezed(whole)) and all(word in squeezed(whole) for word in missing)


def _at(document: pymupdf.Document, chunk: Chunk) -> str:
    box = chunk.bbox
    assert box is not None
    assert chunk.page_no is not None
    clip = pymupdf.Rect(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1)
    return str(document[chunk.page_no - 1].get_text("text", clip=clip))
