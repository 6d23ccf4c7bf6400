"""All pages of a PDF, each read or taken over from an earlier version of the document."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.parse.pdf.digests import PageDigests
from ingest.parse.pdf.layout import MAX_PAGES as MAX_LAYOUT_PAGES
from ingest.parse.pdf.ocr import PageReader
from ingest.parse.pdf.opening import load_pymupdf, pdf_errors, raise_if_exhausted
from ingest.parse.pdf.outline import PageTops
from ingest.parse.pdf.page import PageContent, Search, place_page, read_page
from ingest.parse.pdf.page_cache import PageCache
from ingest.parse.pdf.tables import MAX_PAGES

_USUAL_CELLS = 100


def read_pages(
    document: Any, *, reader: PageReader | None, cache: PageCache | None, outlined: bool
) -> Iterator[PageContent | str]:
    """Return the pages in order; one bad page costs that page only: it gives a warning in its place.

    The pages are the same with a *cache* as without: a page is taken over where its digest, and what was to
    be looked for on it, are equal.
    """
    pages = _Pages(document=document, reader=reader, cache=cache, outlined=outlined)
    for index in range(document.page_count):
        try:
            yield pages.read(index)
        except pdf_errors() as error:
            raise_if_exhausted(error)
            reason = " ".join(str(error).split())[:100] or type(error).__name__
            yield f"page {index + 1}: left out, {reason}"
    if pages.most < Search.LAYOUT:
        yield f"layout not looked at after {MAX_LAYOUT_PAGES} pages"
    if pages.most is Search.NOT:
        yield f"tables not looked for after {MAX_PAGES} pages"


@dataclass(slots=True, kw_only=True)
class _Pages:
    document: Any
    reader: PageReader | None
    cache: PageCache | None
    outlined: bool
    searched: Counter[Search] = field(default_factory=Counter)
    tops: PageTops = field(init=False)
    digests: PageDigests | None = None

    def __post_init__(self) -> None:
        self.tops = PageTops(self.document)
        if self.cache is not None:
            self.digests = PageDigests(self.document, context=self._context(self.cache.made_by))

    def _context(self, made_by: str) -> str:
        """Name what the content of a page depends on besides the page."""
        languages = self.reader.languages if self.reader else ()
        return repr((made_by, load_pymupdf().version, self.outlined, languages))

    @property
    def most(self) -> Search:
        """How much may still be done to find tables: the document has a deadline."""
        if self.searched[Search.LAYOUT] + self.searched[Search.RULINGS] >= MAX_PAGES:
            return Search.NOT
        return Search.LAYOUT if self.searched[Search.LAYOUT] < MAX_LAYOUT_PAGES else Search.RULINGS

    def read(self, index: int) -> PageContent:
        """Take page *index* over, or read it."""
        digest = self.digests.of(index) if self.digests else None
        page = self._take_over(index, digest) or self._read(index, digest)
        self.searched[page.searched] += _cost(page)
        return page

    def _take_over(self, index: int, digest: bytes | None) -> PageContent | None:
        if self.cache is None or digest is None:
            return None
        known = self.cache.find(digest)
        if known is None or not _is_as_read(known, self.most):
            return None
        page = place_page(self.document, index, known, tops=self.tops)
        if page is None or not (self.reader is None or self.reader.count_again(page)):
            return None
        self.cache.reuse(digest)
        return page

    def _read(self, index: int, digest: bytes | None) -> PageContent:
        page = read_page(self.document, index, tops=self.tops, most=self.most, outlined=self.outlined)
        if self.reader is not None:
            page = self.reader.read(self.document, page)
        if self.cache is not None:
            # A warning names the page, and what went wrong may go well; so may what was given up.
            good = not page.warnings and (self.reader is None or self.reader.usable)
            self.cache.add(digest if good else None, page)
        return page


def _cost(page: PageContent) -> int:
    """How many usual pages the search for tables on one took: that of many cells takes seconds."""
    return max(1, sum(len(table.rows) * len(table.rows[0]) for table in page.tables) // _USUAL_CELLS)


def _is_as_read(known: PageContent, most: Search) -> bool:
    """Whether a page gives the same where tables are looked for at *most* in this way."""
    wanted_no_more = known.searched < known.most and known.searched <= most
    return known.most == most or wanted_no_more
