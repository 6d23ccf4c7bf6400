"""The bookmarks of a PDF and the links on its pages, as annotations give them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ingest.parse.pdf.opening import pdf_errors
from ingest.parse.wording import strip_numbering
from schemas.nodes import BBox

MAX_ENTRIES = 20_000
"""Bookmarks kept; a document with more has a machine-made or looping outline."""

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


MAX_LINKS = 2000
"""Annotations a page may have before its links are left alone: 32,768 of them take minutes."""

_GOTO, _NAMED = 1, 4
_URI, _RELATIVE_URI, _FILE = 2, 3, 5
"""Kinds of links, by the numbers that pymupdf gives them."""

_LOCAL = re.compile(r"/|[^/]*(?::|%3A)", re.IGNORECASE)
"""A path on the disk of who made the document: it begins with `/` or a drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A place in the same document: page from 1, `x` and `y` in points from its top left corner.

    `name` is that of a named destination (ISO 32000-1, 12.3.2.3). Without `y` the whole page is meant.
    """

    page_no: int
    x: float = 0.0
    y: float | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class LinkText:
    """The words under the area of a link; `area` as pymupdf gives it."""

    area: tuple[float, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A link and the words under it: to a URI, or to a place in the document."""

    text: str
    bbox: BBox
    uri: str = ""
    destination: Destination | None = None


def find_links(document: Any, page: Any) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return the links of an unrotated page as pymupdf has them, and a warning where they are too many."""
    count = _annotations(document, page)
    if not count:
        return [], ()
    if count > MAX_LINKS:
        return [], (f"page {page.number + 1}: links left out, {count} annotations are over {MAX_LINKS}",)
    return page.get_links(), ()


def read_link_texts(words: list[Any], found: Sequence[dict[str, Any]]) -> tuple[LinkText, ...]:
    """Return the words under each link."""
    return tuple(LinkText(tuple(link["from"]), _under(words, link["from"])) for link in found)


def page_links(
    found: Sequence[dict[str, Any]], texts: Sequence[LinkText], tops: PageTops
) -> tuple[PageLink, ...]:
    """Say where each link leads; one that runs over a line end, one annotation a line, is one link."""
    return tuple(_unbroken(_links(found, texts, tops)))


def _annotations(document: Any, page: Any) -> int:
    """Count /Annots by its source: asking MuPDF for the annotations is what a link bomb waits for."""
    kind, value = document.xref_get_key(page.xref, "Annots")
    if kind == "xref":
        value = document.xref_object(int(value.split()[0]), compressed=True)
    return 0 if kind == "null" else int(value.count(" R") + value.count("<<"))


def _links(found: Sequence[dict[str, Any]], texts: Sequence[LinkText], tops: PageTops) -> Iterator[PageLink]:
    for link, under in zip(found, texts, strict=True):
        uri = _uri(link)
        destination = _destination(link, tops) if link["kind"] in (_GOTO, _NAMED) else None
        if uri or destination:
            yield PageLink(
                text=under.text,
                bbox=_box(link["from"]),
                uri=uri,
                destination=destination,
            )


def _uri(link: dict[str, Any]) -> str:
    """Return where a link leads outside; a place in another PDF is its page (RFC 8118, 3)."""
    file = str(link.get("file") or "")
    if link["kind"] == _URI:
        return str(link.get("uri") or "")
    if link["kind"] == _RELATIVE_URI:
        return f"http://{file}" if file.startswith("www.") else file
    if link["kind"] != _FILE or not file.lower().endswith(".pdf") or _LOCAL.match(file):
        return ""
    page = link.get("page", 0)
    return f"{file}#page={page + 1}" if page > 0 else file


def _destination(link: dict[str, Any], tops: PageTops) -> Destination | None:
    index = link.get("page", -1)
    if not isinstance(index, int) or not 0 <= index < tops.page_count:
        return None
    x, y = tops.place(link, index)
    return Destination(page_no=index + 1, x=x, y=y, name=link.get("nameddest") or None)


def _under(words: list[Any], rect: Any) -> str:
    x0, y0, x1, y1 = rect
    inside = [w[4] for w in words if x0 <= (w[0] + w[2]) / 2 <= x1 and y0 <= (w[1] + w[3]) / 2 <= y1]
    return " ".join(inside)


def _box(rect: Any) -> BBox:
    x0, y0, x1, y1 = (round(float(side), 2) for side in rect)
    return BBox(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _unbroken(links: Iterable[PageLink]) -> Iterator[PageLink]:
    held: PageLink | None = None
    last: BBox | None = None
    for link in links:
        if held is not None and last is not None and _goes_on(held, last, link):
            held = replace(held, text=f"{held.text} {link.text}".strip())
        else:
            if held is not None:
                yield held
            held = link
        last = link.bbox
    if held is not None:
        yield held


def _goes_on(link: PageLink, last: BBox, other: PageLink) -> bool:
    """Whether *other* begins the line below the *last* part of *link* and leads to the same place."""
    if (link.uri, link.destination) != (other.uri, other.destination):
        return False
    height = last.y1 - last.y0
    return other.bbox.x0 < last.x1 and -0.5 * height < other.bbox.y0 - last.y1 < height
