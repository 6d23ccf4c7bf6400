"""What pymupdf does for us: open a PDF, mark the layout of a page, draw pictures of it."""

import base64
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from schemas.errors import ParseError
from schemas.nodes import BBox, PageSize, turn

MAGIC_WINDOW = 1024
"""Bytes in which `%PDF-` must stand; readers accept leading junk up to here (ISO 32000-1, annex H.3)."""


@cache
def load_pymupdf() -> Any:
    """Import pymupdf with its layout model off and its messages on stderr.

    It prints to standard output otherwise, and the layout model costs 300-700 CPU-ms a page.
    """
    import pymupdf

    pymupdf.set_messages(fd=2)
    pymupdf.use_layout(False)
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf


@cache
def pdf_errors() -> tuple[type[Exception], ...]:
    """Return what pymupdf raises over damaged files: its own errors, and Python's over what they left."""
    own: type[Exception] = load_pymupdf().mupdf.FzErrorBase
    return (own, RuntimeError, ValueError, LookupError, TypeError, AttributeError, OSError, AssertionError)


def raise_if_exhausted(error: Exception) -> None:
    """Raise MemoryError where MuPDF ran out of it: what is left of a document then depends on the machine.

    MuPDF's code 2 is FZ_ERROR_SYSTEM, a failed allocation or system call.
    """
    if isinstance(error, load_pymupdf().mupdf.FzErrorSystem) or str(error).startswith("code=2:"):
        raise MemoryError(str(error)) from error


def open_pdf(data: bytes, *, subject: str) -> Any:
    """Open *data* as a pymupdf document whose pages can be counted and read; the caller closes it.

    Raises: ParseError: not a PDF, broken beyond repair, or locked with a password ("needs_password").
    """
    if b"%PDF-" not in data[:MAGIC_WINDOW]:
        raise ParseError("not a PDF: it has no %PDF- header; check the content type", subject=subject)
    try:
        document = load_pymupdf().open(stream=data, filetype="pdf")
    except pdf_errors() as error:
        raise _broken(error, subject) from error
    try:
        _check(document, subject)
    except ParseError:
        document.close()
        raise
    return document


def attached_files(document: Any) -> list[str]:
    """Return the names of the files that a document holds, as a portfolio does, and of those on its pages."""
    pymupdf = load_pymupdf()
    try:
        names = [
            str(document.embfile_info(name).get("filename") or name) for name in document.embfile_names()
        ]
        for page in document if document.has_annots() else ():
            notes = page.annots(types=[pymupdf.PDF_ANNOT_FILE_ATTACHMENT])
            names.extend(str(note.file_info.get("filename") or "") for note in notes)
    except pdf_errors() as error:
        raise_if_exhausted(error)
        return []
    return names


def _check(document: Any, subject: str) -> None:
    # `needs_pass` stays set after the right password, `is_encrypted` does not.
    if document.needs_pass and document.is_encrypted:
        raise ParseError("needs_password: remove the password and try again", subject=subject)
    if not document.is_pdf:
        raise ParseError("not a PDF, although it has a %PDF- header", subject=subject)
    try:
        document.page_count  # noqa: B018 - reading it walks the page tree, which is what may be broken
    except pdf_errors() as error:
        raise _broken(error, subject) from error


def _broken(error: Exception, subject: str) -> ParseError:
    raise_if_exhausted(error)
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return ParseError(f"broken PDF: {reason}; open and save it again with another tool", subject=subject)


def to_box(rect: Any) -> BBox:
    """Turn four numbers into a box of hundredths of a point, corners in order."""
    x0, y0, x1, y1 = (round(float(value), 2) for value in rect)
    return BBox(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def around(boxes: Iterable[BBox]) -> BBox:
    """Return the smallest box around others, of which there is one at least."""
    return reduce(BBox.union, boxes)


def area(box: BBox) -> float:
    """Return how large a box is, in square points."""
    return (box.x1 - box.x0) * (box.y1 - box.y0)


def holds_point(box: BBox, x: float, y: float, *, slack: float) -> bool:
    """Whether a point lies in a box, or at most *slack* outside of it."""
    return box.x0 - slack <= x <= box.x1 + slack and box.y0 - slack <= y <= box.y1 + slack


def share_height(one: BBox, other: BBox, *, least: float) -> bool:
    """Whether two boxes share more than *least* of the height of the lower."""
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    return shared > least * min(one.y1 - one.y0, other.y1 - other.y0)


def shared_area(one: BBox, other: BBox) -> float:
    """Return how much of two boxes lies in both."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width, 0.0) * max(height, 0.0)


MAX_LAYOUT_PAGES = 60
"""Pages of one document that the model looks at: each costs 0.5 CPU-s, and the deadline is 120 s."""

_MOST_BOXES = 30
_LEAST_COVERED = 0.5
"""Boxes on a page above which, and share of its words in boxes below which, the model is lost; measured."""

Word = tuple[float, float, float, float, str]


def add_layout(page: Any, words: Sequence[Word]) -> bool:
    """Let the model look at an unrotated page and keep its answer there for `find_tables(union=True)`.

    Gives False where the answer is not to be believed.
    """
    groups = _model().predict(page, return_raw=True)
    boxes = [group["group_bbox"] for group in groups or ()]
    covered = sum(any(_holds(box, word) for box in boxes) for word in words)
    if not boxes or len(boxes) > _MOST_BOXES or covered < _LEAST_COVERED * len(words):
        return False
    page.layout_information = groups
    return True


@cache
def _model() -> Any:
    """Load the model once: 0.5 CPU-s, and 50 MB that stay."""
    load_pymupdf()
    from pymupdf.layout import DocumentLayoutAnalyzer

    return DocumentLayoutAnalyzer.get_model()


def _holds(box: Sequence[float], word: Word) -> bool:
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


_RED = (255, 0, 0)
_STROKE = 2
_MARGIN = 2.0
_AROUND_PART = 4.0
"""Points around a part of a page: axes and frames are drawn to the edge of their box, and over it."""

_MOST_PIXELS = 25_000_000
"""Pixels of a picture, about 5,000 x 5,000: a poster is drawn at a lower resolution."""


def draw_region(data: bytes, *, page_no: int, bbox: BBox, dpi: int = 110) -> bytes:
    """Draw page *page_no* (from 1) as a reader sees it, rotation included, with *bbox* framed in red; PNG.

    Args: bbox: PDF points, origin top-left of the CropBox, rotation 0.
    Raises: ParseError: not a readable PDF, or it has no such page.
    """
    with _opened_page(data, page_no) as page:
        return _draw(page, bbox, dpi)


def draw_part(data: bytes, *, page_no: int, bbox: BBox, dpi: int) -> bytes:
    """Draw what stands in *bbox* of page *page_no* (from 1), and little around it, as displayed; PNG.

    Args: bbox: PDF points, origin top-left of the CropBox, rotation 0.
    Raises: ParseError: not a readable PDF, it has no such page, or the page has nothing there.
    """
    with _opened_page(data, page_no) as page:
        box = _displayed(page, bbox)
        shown = page.rect
        left, top = max(box.x0 - _AROUND_PART, shown.x0), max(box.y0 - _AROUND_PART, shown.y0)
        right, bottom = min(box.x1 + _AROUND_PART, shown.x1), min(box.y1 + _AROUND_PART, shown.y1)
        if left >= right or top >= bottom:
            raise ParseError("nothing of the page is there", subject=f"page {page_no}")
        part = load_pymupdf().Rect(left, top, right, bottom)
        return bytes(_pixels(page, dpi, part)[0].tobytes("png"))


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
    with _opened_page(data, page_no) as page:
        size = PageSize(round(page.rect.width, 2), round(page.rect.height, 2))
        return bytes(_pixels(page, dpi, page.rect)[0].tobytes("png")), size, int(page.rotation)


def draw_pages(data: bytes, page_nos: Collection[int], *, dpi: int) -> Iterator[PagePicture]:
    """Draw these pages (counted from 1); one that cannot be drawn is left out.

    Raises: ParseError: not a readable PDF.
    """
    with open_pdf(data, subject="pictures of pages") as document:
        for page_no in page_nos:
            try:
                page = document[page_no - 1]
                png = base64.b64encode(_pixels(page, dpi, page.rect)[0].tobytes("png")).decode()
                yield PagePicture(page_no=page_no, png=png, rotation=int(page.rotation))
            except pdf_errors() as error:
                raise_if_exhausted(error)


@contextmanager
def _opened_page(data: bytes, page_no: int) -> Iterator[Any]:
    subject = f"page {page_no}"
    with open_pdf(data, subject=subject) as document:
        try:
            if not 1 <= page_no <= document.page_count:
                raise ParseError(f"no such page; the PDF has {document.page_count}", subject=subject)
            yield document[page_no - 1]
        except pdf_errors() as error:
            raise ParseError(f"the page cannot be drawn: {error}", subject=subject) from error


def _draw(page: Any, bbox: BBox, dpi: int) -> bytes:
    pixmap, scale = _pixels(page, dpi, page.rect)
    # Painting pixels leaves the page alone: content drawn into it could be clipped by what is there.
    _frame(pixmap, _displayed(page, bbox), scale)
    return bytes(pixmap.tobytes("png"))


def _displayed(page: Any, bbox: BBox) -> BBox:
    """A box of the page where it is displayed."""
    shown = page.rect
    turned = page.rotation % 180 == 90
    size = PageSize(*((shown.height, shown.width) if turned else (shown.width, shown.height)))
    return turn(bbox, size=size, rotation=page.rotation)


def _pixels(page: Any, dpi: int, part: Any) -> tuple[Any, float]:
    """A part of the page as displayed, and how many pixels a point has."""
    pixels = part.width * part.height * (dpi / 72) ** 2
    scale = dpi / 72 * min(1.0, (_MOST_PIXELS / max(pixels, 1.0)) ** 0.5)
    pymupdf = load_pymupdf()
    matrix = pymupdf.Matrix(scale, scale)
    return page.get_pixmap(matrix=matrix, clip=part, alpha=False, colorspace=pymupdf.csRGB), scale


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
