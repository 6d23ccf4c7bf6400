"""Where links of a PDF stand and where those inside it land, among its regions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.parse.links import MAX_TEXT
from ingest.parse.pdf.captions import Region
from ingest.parse.pdf.joining import JoinedLines
from ingest.parse.pdf.links import Destination, PageLink
from ingest.parse.pdf.opening import area
from ingest.parse.pdf.page import PageContent
from schemas.edges import LinkPosition
from schemas.nodes import BBox, RegionType

MAX_LINKS = 20_000
"""Distinct links inside one document; the manual of a database has about so many."""

_MARGINS = {RegionType.HEADER: LinkPosition.HEADER, RegionType.FOOTER: LinkPosition.FOOTER}

_SAME_HEIGHT = 1.0
"""Points by which a link and the bookmark of the same heading may differ."""

_HALF_LINE = 4.0
"""Points of a region that must lie below a destination: LaTeX points at the foot of the line before."""

_INDENT = 36.0
"""Points that a destination may lie left of its region."""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """An offset in the text of a region; `exact` where the words of the link begin there."""

    region: int
    offset: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerLink:
    """A link from a region to a region, by index; None where no region lies there, but only the page.

    `name` is that of the named destination; `stands` is where in the region's text the first of equal links
    begins.
    """

    page_no: int
    region: int | None
    to_page: int
    to_region: int | None
    text: str
    position: LinkPosition
    name: str | None = None
    stands: TextPlace | None = field(default=None, compare=False)


@dataclass(slots=True)
class Places:
    """The regions of a document by page."""

    regions: Sequence[Region]
    _by_page: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for index, region in enumerate(self.regions):
            self._by_page[region.page_no].append(index)

    def standing(self, page_no: int, box: BBox) -> int | None:
        """Return the smallest region around the middle of *box*."""
        boxes = ((self.regions[index].bbox, index) for index in self._by_page[page_no])
        around = [(area(other), index) for other, index in boxes if other.holds_middle_of(box)]
        return min(around)[1] if around else None

    def place(self, index: int | None, link: PageLink) -> TextPlace | None:
        """Return where in the text of a region a link stands: at its words, else where its line begins.

        Of equal words on a line those under the link are meant, as far along the line as it is.
        """
        joined = JoinedLines(text="", lines=()) if index is None else self.regions[index].joined
        middle = (link.bbox.y0 + link.bbox.y1) / 2
        beside = [line for line in joined.lines if line[2].y0 <= middle <= line[2].y1]
        if index is None or not beside:
            return None
        first, last = min(line[0] for line in beside), max(line[1] for line in beside)
        # The words of a link come line by line; in the text of the region, hyphenation is undone.
        written = (link.text, link.text.replace("- ", ""))
        found = {at for words in written for at in _occurrences(words, joined.text) if first <= at < last}
        near = _along(beside, link.bbox.x0)
        at = min(found, key=lambda at: (abs(at - near), at), default=None)
        return TextPlace(index, first if at is None else at, at is not None)

    def position(self, index: int | None) -> LinkPosition:
        """Return what a link in a region is to a reader."""
        region = None if index is None else self.regions[index]
        if region is None:
            return LinkPosition.BODY
        return LinkPosition.NAV if region.contents else _MARGINS.get(region.type, LinkPosition.BODY)

    def landing(self, to: Destination) -> int | None:
        """Return the region that a destination shows: the heading whose bookmark leads there too, else the
        first that reaches below it, of those it lies beside where there are columns.
        """
        y = to.y
        if y is None:
            return None
        inside = [at for at in self._by_page[to.page_no] if self.regions[at].type not in _MARGINS]
        for at in inside:
            bookmark = self.regions[at].bookmark
            if bookmark is not None and abs(bookmark - y) <= _SAME_HEIGHT:
                return at
        boxes = {at: self.regions[at].bbox for at in inside}
        below = [at for at in inside if boxes[at].y1 >= y + _HALF_LINE]
        beside = [at for at in below if boxes[at].x0 - _INDENT <= to.x < boxes[at].x1]
        return min(beside or below, key=lambda at: (max(boxes[at].y0 - y, 0.0), at), default=None)


def _occurrences(words: str, text: str) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(words), text)] if words else []


def _along(lines: Sequence[tuple[int, int, BBox]], x: float) -> float:
    """Return the offset at which *x* lies on the line around it, as if all signs were of one width."""
    start, end, box = min(lines, key=lambda line: max(line[2].x0 - x, x - line[2].x1, 0.0))
    share = (x - box.x0) / (box.x1 - box.x0) if box.x1 > box.x0 else 0.0
    return start + share * (end - start)


def find_inner_links(
    pages: Sequence[PageContent], places: Places
) -> tuple[tuple[tuple[InnerLink, int], ...], tuple[str, ...]]:
    """Return the distinct links inside the document and how often each stands there; also gives a warning.

    A link from a region to itself is none.
    """
    counts: Counter[InnerLink] = Counter()
    dropped = 0
    for link in _inner_links(pages, places):
        if link.region is not None and link.region == link.to_region:
            continue
        if link not in counts and len(counts) == MAX_LINKS:
            dropped += 1
            continue
        counts[link] += 1
    left_out = f"links: {dropped} inside the document over the limit of {MAX_LINKS} left out"
    return tuple(counts.items()), (left_out,) if dropped else ()


def _inner_links(pages: Sequence[PageContent], places: Places) -> Iterator[InnerLink]:
    known = {page.page_no for page in pages}
    for page in pages:
        for link in page.links:
            if link.destination is None or link.destination.page_no not in known:
                continue
            at = places.standing(page.page_no, link.bbox)
            yield InnerLink(
                page_no=page.page_no,
                region=at,
                to_page=link.destination.page_no,
                to_region=places.landing(link.destination),
                text=link.text[:MAX_TEXT].strip(),
                position=places.position(at),
                name=link.destination.name,
                stands=places.place(at, link),
            )
