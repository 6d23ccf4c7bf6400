"""Pictures of pages: one with a box drawn on it, as a citation shows it, or all as they are."""

import base64
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.opening import load_pymupdf, open_pdf, pdf_errors, raise_if_exhausted
from schemas.errors import ParseError
from schemas.geometry import BBox, PageSize, turn

_RED = (255, 0, 0)
_STROKE = 2
_MARGIN = 2.0
_MOST_PIXELS = 25_000_000
"""Pixels of a picture, about 5,000 x 5,000: a poster is drawn at a lower resolution."""


def draw_region(data: bytes, *, page_no: int, bbox: BBox, dpi: int = 110) -> bytes:
    """Draw page *page_no* (from 1) as a reader sees it, rotation included, with *bbox* framed in red; PNG.

    Args: bbox: PDF points, origin top-left of the CropBox, rotation 0.
    Raises: ParseError: not a readable PDF, or it has no such page.
    """
    document = open_pdf(data, subject=f"page {page_no}")
    try:
        return _draw(_page_of(document, page_no), bbox, dpi)
    except pdf_errors() as error:
        raise ParseError(f"the page cannot be drawn: {error}", subject=f"page {page_no}") from error
    finally:
        document.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A page as displayed; `png` is base64. `rotation` is by how much it was turned: boxes are not."""

    page_no: int
    png: str
    rotation: int = 0


def draw_page(data: bytes, *, page_no: int, dpi: int) -> tuple[bytes, PageSize, int]:
    """Draw page *page_no* (from 1) as displayed.

    Returns: PNG, the page's size as displayed in points, by how many degrees it was turned.

    Raises: ParseError: not a readable PDF, or it has no such page.
    """
    document = open_pdf(data, subject=f"page {page_no}")
    try:
        page = _page_of(document, page_no)
        size = PageSize(round(page.rect.width, 2), round(page.rect.height, 2))
        return bytes(_pixels(page, dpi)[0].tobytes("png")), size, int(page.rotation)
    except pdf_errors() as error:
        raise ParseError(f"the page cannot be drawn: {error}", subject=f"page {page_no}") from error
    finally:
        document.close()


def draw_pages(data: bytes, page_nos: Collection[int], *, dpi: int) -> Iterator[PagePicture]:
    """Draw these pages (counted from 1); one that cannot be drawn is left out.

    Raises: ParseError: not a readable PDF.
    """
    document = open_pdf(data, subject="pictures of pages")
    try:
        for page_no in page_nos:
            try:
                page = document[page_no - 1]
                png = base64.b64encode(_pixels(page, dpi)[0].tobytes("png")).decode()
                yield PagePicture(page_no=page_no, png=png, rotation=int(page.rotation))
            except pdf_errors() as error:
                raise_if_exhausted(error)
    finally:
        document.close()


def _page_of(document: Any, page_no: int) -> Any:
    if not 1 <= page_no <= document.page_count:
        raise ParseError(f"no such page; the PDF has {document.page_count}", subject=f"page {page_no}")
    return document[page_no - 1]


def _draw(page: Any, bbox: BBox, dpi: int) -> bytes:
    shown = page.rect
    turned = page.rotation % 180 == 90
    size = PageSize(*((shown.height, shown.width) if turned else (shown.width, shown.height)))
    pixmap, scale = _pixels(page, dpi)
    # Painting pixels leaves the page alone: content drawn into it could be clipped by what is there.
    _frame(pixmap, turn(bbox, size=size, rotation=page.rotation), scale)
    return bytes(pixmap.tobytes("png"))


def _pixels(page: Any, dpi: int) -> tuple[Any, float]:
    """The page as displayed, and how many pixels a point has."""
    pixels = page.rect.width * page.rect.height * (dpi / 72) ** 2
    scale = dpi / 72 * min(1.0, (_MOST_PIXELS / max(pixels, 1.0)) ** 0.5)
    pymupdf = load_pymupdf()
    matrix = pymupdf.Matrix(scale, scale)
    return page.get_pixmap(matrix=matrix, alpha=False, colorspace=pymupdf.csRGB), scale


def _frame(pixmap: Any, box: BBox, scale: float) -> None:
    x0, y0 = int((box.x0 - _MARGIN) * scale), int((box.y0 - _MARGIN) * scale)
    x1, y1 = round((box.x1 + _MARGIN) * scale), round((box.y1 + _MARGIN) * scale)
    for bar in (
        (x0, y0, x1, y0 + _STROKE),
        (x0, y1 - _STROKE, x1, y1),
        (x0, y0, x0 + _STROKE, y1),
        (x1 - _STROKE, y0, x1, y1),
    ):
        pixmap.set_rect(bar, _RED)
