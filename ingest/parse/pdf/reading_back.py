"""What stands on the pages of a PDF within given boxes, read anew."""

from collections.abc import Iterable, Iterator
from typing import Any

from ingest.parse.pdf.opening import load_pymupdf, open_pdf, pdf_errors, raise_if_exhausted
from schemas.geometry import BBox

_GROWN = 1.0
"""Points around a box: letters reach over the edge of their line."""


def texts_in_boxes(data: bytes, places: Iterable[tuple[int | None, BBox | None]]) -> Iterator[str]:
    """Give the text in each box (of a page counted from 1; origin top-left of the CropBox, rotation 0).

    A place without a page or a box, and a page that cannot be read, have none.
    Raises: ParseError: not a readable PDF.
    """
    document = open_pdf(data, subject="round trip")
    pages: dict[int, Any] = {}
    try:
        for page_no, box in places:
            yield "" if page_no is None or box is None else _text_at(document, page_no, box, pages)
    finally:
        document.close()


def _text_at(document: Any, page_no: int, box: BBox, pages: dict[int, Any]) -> str:
    try:
        if page_no not in pages:
            pages.clear()  # chunks come page by page
            pages[page_no] = _upright(document, page_no)
        clip = load_pymupdf().Rect(box.x0 - _GROWN, box.y0 - _GROWN, box.x1 + _GROWN, box.y1 + _GROWN)
        return str(pages[page_no].get_text("text", clip=clip))
    except pdf_errors() as error:
        raise_if_exhausted(error)
        return ""


def _upright(document: Any, page_no: int) -> Any:
    """Give a page (from 1) turned back in memory, so that all its coordinates are those of rotation 0."""
    page = document[page_no - 1]
    if page.rotation:
        page.set_rotation(0)
        page = document.reload_page(page)
    return page
