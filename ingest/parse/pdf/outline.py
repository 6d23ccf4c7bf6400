"""The bookmarks of a PDF, and how their titles compare with printed lines."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ingest.parse.numbering import strip_numbering
from ingest.parse.pdf.opening import pdf_errors

MAX_ENTRIES = 20_000
"""Bookmarks kept; a document with more has a machine-made or looping outline."""

_NAMED, _GOTO = 4, 1
_NOT_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A bookmark: title without numbering, level from 1, page from 1, `y` in points from the top."""

    title: str
    level: int
    page_no: int
    y: float | None = None


def read_outline(document: Any) -> tuple[Entry, ...]:
    """Return the bookmarks that lead to a page, in their order; none where the outline is broken."""
    try:
        rows = document.get_toc(simple=False)[:MAX_ENTRIES]
        return tuple(_entries(rows, PageTops(document)))
    except pdf_errors():
        return ()


def title_key(text: str) -> str:
    """Return *text* as titles are compared: letters and digits only, case folded, ligatures undone."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", text)).casefold()


class PageTops:
    """Where the pages of a document have their top edge, each looked up once."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._known: dict[int, tuple[float, float, bool] | None] = {}
        self.page_count: int = document.page_count

    def place(self, destination: dict[str, Any], index: int) -> tuple[float, float | None]:
        """Return x and y of a destination as pymupdf has it: points from the top left corner of page *index*.

        Named destinations count from the bottom of the MediaBox, direct ones from the top left of the page
        as it is displayed, so that on a turned page they give no place; (0, 0) is none either.
        """
        to, kind = destination.get("to"), destination.get("kind")
        if to is None or (to.x == 0 and to.y == 0):
            return 0.0, None
        corner = self._corner(index)
        if corner is None:
            return 0.0, None
        left, top, turned = corner
        if kind == _NAMED:
            return round(float(to.x) - left, 2), round(top - float(to.y), 2)
        return (round(float(to.x), 2), round(float(to.y), 2)) if kind == _GOTO and not turned else (0.0, None)

    def _corner(self, index: int) -> tuple[float, float, bool] | None:
        """The CropBox's top left corner in the coordinates of the file, and whether the page is turned."""
        if index not in self._known:
            self._known[index] = self._read(index)
        return self._known[index]

    def _read(self, index: int) -> tuple[float, float, bool] | None:
        try:
            page = self._document[index]
        except pdf_errors():
            return None
        # pymupdf counts the CropBox's y from the top of the MediaBox.
        return float(page.cropbox.x0), float(page.mediabox.y1 - page.cropbox.y0), page.rotation != 0


def _entries(rows: list[Any], tops: PageTops) -> Iterator[Entry]:
    for level, title, page_no, destination in rows:
        text = strip_numbering(" ".join(title.split()))
        if page_no >= 1 and text:
            _, y = tops.place(destination, page_no - 1)
            yield Entry(title=text, level=level, page_no=page_no, y=y)
