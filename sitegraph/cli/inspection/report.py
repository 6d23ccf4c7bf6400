"""What `sitegraph inspect` shows of one document, as values; how it looks is up to the renderers."""

from dataclasses import dataclass

from ingest.parse.html.traced import BlockStatus, CleaningStep
from schemas.dates import DateOrigin
from schemas.fragment import Link
from schemas.geometry import BBox, PageSize
from schemas.nodes import RegionType
from schemas.word_coverage import WordCoverage


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the document says about itself to robots and indexes."""

    noindex: bool = False
    nofollow: bool = False
    canonical: str | None = None
    refresh: str | None = None
    alternates: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFound:
    """Where the content of an HTML page was found and how."""

    family: str
    purpose: str
    decided_by: str
    element: str
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkShown:
    """A chunk; `number` counts from 0 in reading order.

    `in_parent`, `at_place`: whether its text is in its section or region, and whether what it cites is
    there (None: it cites no place that could be looked up).
    """

    number: int
    id: str
    text: str
    tokens: int
    heading_path: tuple[str, ...]
    structure_confidence: float
    in_parent: bool
    at_place: bool | None
    fragment: str | None = None
    page_no: int | None = None
    bbox: BBox | None = None
    captions: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionShown:
    """A heading and what stands under it; `chunks` are numbers."""

    number: int
    heading: str
    level: int
    heading_path: tuple[str, ...]
    fragment: str | None
    words: int
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterShown:
    """A chapter of a book, and the numbers of its sections."""

    title: str
    fragment: str | None
    sections: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionShown:
    """A region of a PDF page; `number` is its place in reading order. Without chunks, `reason` says why."""

    number: int
    type: RegionType
    bbox: BBox
    heading_path: tuple[str, ...]
    text: str
    chunks: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageShown:
    """A page of a PDF with its regions in reading order."""

    page_no: int
    label: str | None
    size: PageSize
    regions: tuple[RegionShown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShown:
    """A stretch of an HTML page's text and what became of it.

    `chunk` is the number of the chunk that it, or what stands under it, is in; None for what is not read and
    for what is `lost`: read, and in no chunk. `voted` counts its words that trafilatura took for content.
    """

    text: str
    verdict: BlockStatus
    reason: str
    element: str
    level: int
    words: int
    voted: int | None
    chunk: int | None = None
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Something that looks like a wrong parse; `anchor` is where in the report."""

    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that is shown of one document, without pictures."""

    address: str
    kind: str
    title: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    hints: Hints
    chunks: tuple[ChunkShown, ...]
    links: tuple[Link, ...]
    doc_id: str | None = None
    lang: str | None = None
    last_modified: str | None = None
    last_modified_origin: DateOrigin | None = None
    template_type: str | None = None
    breadcrumbs: tuple[str, ...] = ()
    content: ContentFound | None = None
    chapters: tuple[ChapterShown, ...] = ()
    sections: tuple[SectionShown, ...] = ()
    blocks: tuple[BlockShown, ...] = ()
    pages: tuple[PageShown, ...] = ()
    cleaning: tuple[CleaningStep, ...] = ()
    coverage: WordCoverage | None = None
