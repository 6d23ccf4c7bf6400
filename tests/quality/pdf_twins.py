"""Bookmarks of real manuals against the headings found in their PDFs, and PDF paths against HTML paths."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pymupdf

from schemas.fragment import GraphFragment
from schemas.nodes import PdfRegion, RegionType, Section
from tests.quality.pdf_documents import regions_of

ABOVE, BELOW = 72.0, 8.0
"""Points above and below a heading's box within which its bookmark may point."""

_NOT_WORD = re.compile(r"[\W_]")
_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w+teen|twenty\\w*|thirty\\w*"
_NUMBER = re.compile(
    rf"^(?:(?:chapter|appendix|part)\s+(?:{_WORDS}|\d+|[ivxlc]+|[a-z])\b[.:]?\s*|[a-z]?\d*(?:\.\d+)+\.?\s+|\d+\.?\s+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A title, its page from 1, its height from the top of the page where it has one, and those above."""

    title: str
    page_no: int
    y: float | None
    path: tuple[str, ...]


def key(title: str) -> str:
    """A title as letters and digits, without the number that is set before it."""
    flat = " ".join(unicodedata.normalize("NFKC", title).split())
    return _NOT_WORD.sub("", _NUMBER.sub("", flat) or flat).lower()


def bookmarks(pdf: bytes) -> list[Bookmark]:
    """Read the outline with pymupdf alone."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        stack: list[str] = []
        found = []
        for level, title, page_no, place in document.get_toc(simple=False):
            stack[level - 1 :] = [title]
            if page_no >= 1:
                height = document[page_no - 1].rect.height
                found.append(Bookmark(title, page_no, _height(place, height), tuple(stack)))
        return found


def _height(place: dict[str, object], height: float) -> float | None:
    to = place.get("to")
    if not isinstance(to, pymupdf.Point) or (to.x, to.y) == (0, 0):
        return None
    # A named destination (kind 4) counts from the bottom.
    return height - to.y if place.get("kind") == 4 else to.y


def missed_bookmarks(marks: Iterable[Bookmark], fragment: GraphFragment) -> list[Bookmark]:
    """Bookmarks without a heading of their own: same title, same page, within the window."""
    headings: dict[tuple[int, str], list[PdfRegion]] = defaultdict(list)
    for region in regions_of(fragment, RegionType.HEADING):
        headings[region.page_no, key(region.text)].append(region)
    missed = []
    for mark in marks:
        waiting = headings[mark.page_no, key(mark.title)]
        fitting = [region for region in waiting if _points_at(mark, region)]
        if fitting:
            waiting.remove(fitting[0])
        else:
            missed.append(mark)
    return missed


def _points_at(mark: Bookmark, region: PdfRegion) -> bool:
    return mark.y is None or region.bbox.y0 - ABOVE <= mark.y <= region.bbox.y1 + BELOW


def shared_paths(
    marks: Iterable[Bookmark], pdf: GraphFragment, pages: Iterable[GraphFragment]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """PDF heading paths that end in a bookmark which is an HTML heading too: the same there, and not."""
    titles = {key(mark.title) for mark in marks}
    html = {keys for page in pages for keys in _html_paths(page)}
    headings = {path[-1] for path in html}
    paths = {tuple(map(key, path)): path for path in _pdf_paths(pdf)}
    both = {keys: path for keys, path in paths.items() if keys[-1] in titles & headings}
    same = [path for keys, path in both.items() if keys in html]
    return same, [path for keys, path in both.items() if keys not in html]


def _pdf_paths(fragment: GraphFragment) -> Iterator[tuple[str, ...]]:
    for region in regions_of(fragment, *RegionType):
        if region.heading_path:
            yield region.heading_path


def _html_paths(fragment: GraphFragment) -> Iterator[tuple[str, ...]]:
    for node in fragment.nodes:
        if isinstance(node, Section) and node.heading_path:
            yield tuple(map(key, node.heading_path))
