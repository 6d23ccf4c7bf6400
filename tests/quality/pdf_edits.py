"""What an edited PDF costs: a paragraph more on one page, a page more, and a document set again."""

from collections.abc import Sequence
from textwrap import wrap

import pymupdf

from schemas.fragment import GraphFragment
from schemas.text import encoded_text
from tests.fakes.pdfs import Text, new_pdf

PARAGRAPH = (
    "Since this edition a lamp that has been dropped must be tested by two people before anyone lights it "
    "again, and the date of the test is written on the label under its foot, so that whoever buys the lamp "
    "later can see how often it fell."
)
_LINES_PER_PAGE = 46


def embedded_again(old: GraphFragment, new: GraphFragment) -> int:
    """Texts to encode that the old document did not have."""
    texts = {encoded_text(chunk.heading_path, chunk.text) for chunk in old.chunks}
    return len({encoded_text(chunk.heading_path, chunk.text) for chunk in new.chunks} - texts)


def with_paragraph(pdf: bytes) -> bytes:
    """Print a paragraph into the free space at the foot of page 1; nothing else moves."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        page = document[0]
        lowest = max((block[3] for block in page.get_text("blocks")), default=0.0)
        top = min(lowest + 24, page.rect.height * 0.85)
        for number, line in enumerate(wrap(PARAGRAPH, 90)):
            page.insert_text((72, top + 12 * number), line, fontsize=9)
        return bytes(document.tobytes())


def with_page(pdf: bytes, after: int) -> bytes:
    """Put a page of its own text behind page *after*."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        page = document.new_page(pno=after)
        for number, line in enumerate(wrap(" ".join([PARAGRAPH] * 6), 90)):
            page.insert_text((72, 100 + 13 * number), line, fontsize=10)
        return bytes(document.tobytes())


def set_again(paragraphs: Sequence[str]) -> bytes:
    """Fill pages with paragraphs, so that one more above pushes all others on."""
    rows: list[str] = []
    for paragraph in paragraphs:
        rows.extend([*wrap(paragraph, 80), ""])
    pages = [rows[at : at + _LINES_PER_PAGE] for at in range(0, len(rows), _LINES_PER_PAGE)]
    return bytes(new_pdf([[Text("\n".join(page))] for page in pages]).tobytes())
