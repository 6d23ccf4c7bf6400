"""All pages of a PDF, each read, recognised or taken over from an earlier version of the document."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from ingest.parse.pdf.joining import JoinedLines
from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.links import PageTops
from ingest.parse.pdf.opening import MAX_LAYOUT_PAGES, around, load_pymupdf, pdf_errors, raise_if_exhausted
from ingest.parse.pdf.page import PageContent, Search, place_page, read_pdf_page
from ingest.parse.pdf.page_cache import PageCache, PageDigests
from ingest.parse.pdf.tables import MAX_TABLE_PAGES
from schemas.errors import ConfigError, ParseError
from schemas.nodes import BBox, PageSize, turn

Recognise = Callable[[bytes, str], str]
"""A PNG and languages as `eng+deu` > what Tesseract says of them as TSV.

Raises: ConfigError: it cannot be asked at all, and how that is cured; ParseError: it cannot read this one.
"""

MAX_RECOGNISED_PAGES = 200
"""Pages of one document that are recognised, at 1-10 s each: what may take half an hour (`ocr_seconds`)."""

_DPI = 300
_MOST_PIXELS = 12_000_000
"""Resolution that Tesseract's manual asks for; pages of more pixels are drawn coarser: A4 has 9 M."""

_SIZE = 10.0
"""Size of recognised type: it is not known well enough to tell headings by it."""

_GARBAGE = 0.5
"""Share of characters without meaning from which a text layer is none."""

_WORD = "5"
_COLUMNS = 12


@dataclass(slots=True)
class PageReader:
    """Reads the pages of one document that have pictures and no text; gives up where `recognise` does."""

    recognise: Recognise
    languages: tuple[str, ...]
    left: int = MAX_RECOGNISED_PAGES
    usable: bool = True

    def read(self, document: Any, page: PageContent) -> PageContent:
        """Return the page with its recognised lines; or as it is, with a warning where that has failed."""
        shown = page.garbled or not has_text(page)
        if not self.usable or not shown or not (page.garbled or _shows_something(document[page.page_no - 1])):
            return page
        if not self.left:
            self.usable = False
            return _warned(page, f"not recognised after {MAX_RECOGNISED_PAGES} pages")
        self.left -= 1
        try:
            return self._read(document, page)
        except ConfigError as error:
            # What keeps one page from being recognised keeps them all; it is said once.
            self.usable = False
            return _warned(page, error.message)
        except ParseError as error:
            return _warned(page, error.message)

    def count_again(self, page: PageContent) -> bool:
        """Whether a page that was read before is what `read` would give; counts it if it was recognised."""
        if page.recognised and not (self.usable and self.left):
            return False
        self.left -= page.recognised
        return True

    def _read(self, document: Any, page: PageContent) -> PageContent:
        png, shown, scale = _draw(document, page)
        words = _words(self.recognise(png, "+".join(self.languages)))
        back = 360 - page.rotation

        def place(box: BBox) -> BBox:
            points = BBox(*(round(side / scale, 2) for side in (box.x0, box.y0, box.x1, box.y1)))
            return turn(points, size=shown, rotation=back)

        blocks = tuple(_blocks(words, place))
        return replace(page, blocks=blocks, tables=(), recognised=True, garbled=False)


def has_text(page: PageContent) -> bool:
    """Whether a page has a text layer whose characters mean something: its fonts map to text."""
    if page.garbled:
        return False
    characters = [char for block in page.blocks for line in block for char in line.text if not char.isspace()]
    garbage = sum(char == "\ufffd" or "\ue000" <= char <= "\uf8ff" for char in characters)
    return bool(characters) and garbage < _GARBAGE * len(characters)


def recognised_lines(pages: Iterable[PageContent]) -> dict[tuple[int, BBox], Line]:
    """Return the recognised lines by page and box."""
    return {
        (page.page_no, line.bbox): line
        for page in pages
        for block in page.blocks
        for line in block
        if line.ocr_conf is not None
    }


def mean_confidence(
    lines: Mapping[tuple[int, BBox], Line], page_no: int, joined: JoinedLines, start: int, end: int
) -> float | None:
    """Return the mean confidence, 0 to 1, of the recognised words in a span of text; None without any."""
    if not lines:
        return None
    inside = (lines.get((page_no, box)) for low, high, box in joined.lines if low < end and start < high)
    found = [(len(line.text.split()), line.ocr_conf) for line in inside if line and line.ocr_conf is not None]
    words = sum(number for number, _ in found)
    return round(sum(number * conf for number, conf in found) / words, 4) if words else None


def _shows_something(page: Any) -> bool:
    return bool(page.get_images() or page.get_cdrawings())


def _warned(page: PageContent, reason: str) -> PageContent:
    warning = f"page {page.page_no} has no text layer; {reason}"
    return replace(page, warnings=(*page.warnings, warning))


def _draw(document: Any, page: PageContent) -> tuple[bytes, PageSize, float]:
    """Draw a page as a reader sees it, since scans lie sideways on theirs; also give its size and scale."""
    turned = document[page.page_no - 1]
    if page.rotation:
        turned.set_rotation(page.rotation)
        turned = document.reload_page(turned)
    shown = PageSize(float(turned.rect.width), float(turned.rect.height))
    pixels = max(shown.width * shown.height, 1.0)
    scale = min(_DPI / 72, (_MOST_PIXELS / pixels) ** 0.5)
    pymupdf = load_pymupdf()
    pixmap = turned.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, colorspace=pymupdf.csGRAY)
    pixmap.set_dpi(round(72 * scale), round(72 * scale))
    return bytes(pixmap.tobytes("png")), shown, scale


@dataclass(frozen=True, slots=True)
class _Word:
    line: tuple[str, str, str]
    box: BBox
    conf: float
    text: str


def _words(tsv: str) -> Iterator[_Word]:
    """Read TSV of level, page, block, paragraph, line, word, left, top, width, height, conf and text."""
    for row in tsv.split("\n"):
        fields = row.split("\t")
        if len(fields) == _COLUMNS and fields[0] == _WORD and fields[11].strip():
            left, top, width, height = map(float, fields[6:10])
            box = BBox(left, top, left + width, top + height)
            yield _Word((fields[2], fields[3], fields[4]), box, float(fields[10]) / 100, fields[11].strip())


def _blocks(words: Iterable[_Word], place: Callable[[BBox], BBox]) -> Iterator[Block]:
    for _, of_paragraph in groupby(words, key=lambda word: word.line[:2]):
        lines = groupby(of_paragraph, key=lambda word: word.line)
        yield tuple(_line(tuple(of_line), place) for _, of_line in lines)


def _line(words: Sequence[_Word], place: Callable[[BBox], BBox]) -> Line:
    return Line(
        text=" ".join(word.text for word in words),
        bbox=place(around(word.box for word in words)),
        size=_SIZE,
        ocr_conf=round(sum(word.conf for word in words) / len(words), 4),
    )


_USUAL_CELLS = 100


def read_pdf_pages(
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
        yield f"tables not looked for after {MAX_TABLE_PAGES} pages"


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
        if self.searched[Search.LAYOUT] + self.searched[Search.RULINGS] >= MAX_TABLE_PAGES:
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
        page = read_pdf_page(self.document, index, tops=self.tops, most=self.most, outlined=self.outlined)
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
