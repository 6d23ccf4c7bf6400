"""Nodes of the graph, their dates and boxes, and the chunk row that the vector store keeps."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeGuard

from schemas.ids import LATER
from schemas.uses import UseTerms


@dataclass(frozen=True, slots=True)
class BBox:
    """A box in PDF points; origin top-left of the CropBox, page rotation 0."""

    x0: float
    y0: float
    x1: float
    y1: float

    def __post_init__(self) -> None:
        if not (self.x0 <= self.x1 and self.y0 <= self.y1):
            raise ValueError(f"not a box: {self}")

    def union(self, other: "BBox") -> "BBox":
        """Return the smallest box around both."""
        return BBox(
            min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1)
        )

    def holds_middle_of(self, other: "BBox") -> bool:
        """Whether the middle of the other lies in this one, edges included."""
        x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


@dataclass(frozen=True, slots=True)
class PageSize:
    """Width and height of a page's CropBox in PDF points, rotation 0."""

    width: float
    height: float


def turn(bbox: BBox, *, size: PageSize, rotation: int) -> BBox:
    """Turn a box on the unrotated page of *size* into one on the page as displayed.

    /Rotate is clockwise, in steps of 90 degrees (ISO 32000-1, 7.7.3.3).
    """
    x0, y0, x1, y1 = bbox.x0, bbox.y0, bbox.x1, bbox.y1
    match rotation % 360:
        case 90:
            return BBox(size.height - y1, x0, size.height - y0, x1)
        case 180:
            return BBox(size.width - x1, size.height - y1, size.width - x0, size.height - y0)
        case 270:
            return BBox(y0, size.width - x1, y1, size.width - x0)
    return bbox


class DateOrigin(StrEnum):
    """Where the date of a document comes from; those that come first are believed first.

    What a document says of itself: FRONT_MATTER, JSON_LD (`dateModified`), META, TIME (a `time` element that
    is marked as modified), TEXT ("Last updated on ..."), PDF, DOCX, PPTX, XLSX, EPUB. Then GIT, the last
    commit that changed the file, and SITEMAP. PUBLISHED is when the document says that it came out. HTTP is
    `Last-Modified`, FILE the time of a file, GIT_HEAD the commit that was read: these three often tell of a
    build, a deployment or a checkout. Source: docs/rules/dates.md.
    """

    FRONT_MATTER = "front_matter"
    JSON_LD = "json_ld"
    META = "meta"
    TIME = "time"
    TEXT = "text"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    EPUB = "epub"
    GIT = "git"
    SITEMAP = "sitemap"
    PUBLISHED = "published"
    HTTP = "http"
    FILE = "file"
    GIT_HEAD = "git_head"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A date, ISO 8601 in UTC to the second, and where it comes from."""

    at: str
    origin: DateOrigin


class NodeKind(StrEnum):
    """What a node is."""

    PAGE = "Page"
    SECTION = "Section"
    CHUNK = "Chunk"
    PDF_DOC = "PdfDoc"
    PDF_PAGE = "PdfPage"
    PDF_REGION = "PdfRegion"
    TOOL = "Tool"
    ENTITY = "Entity"


class DocumentKind:
    """Kinds of documents of which more is known than how they are parsed.

    A `kind` is the name of any `schemas.formats.DocumentFormat`; compare it with `==`.
    """

    HTML: Final = "html"
    PDF: Final = "pdf"
    MARKDOWN: Final = "markdown"


class PageKind(StrEnum):
    """What a page is to its site; all but CONTENT are cited last, and their links give no authority."""

    CONTENT = "content"
    INDEX = "index"
    LISTING = "listing"
    CHANGES = "changes"
    SEARCH = "search"
    NOT_FOUND = "not_found"


class RegionType(StrEnum):
    """What a region of a PDF page is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    FIGURE = "figure"
    CAPTION = "caption"
    CODE = "code"
    FORMULA = "formula"
    HEADER = "header"
    FOOTER = "footer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document without pages of paper, whose `doc` is its own id: a web page, a Markdown file, a book; or a
    part of one that is read by itself, a chapter, whose `doc` is the book. `is_document` tells them apart.

    `fragment` opens a chapter in its book, at `url` or `path`.
    `heading_path` is the heading that all others stand under, empty where there is none. `last_modified` is
    ISO 8601 in UTC. `stale`: this is its last good version, and what is there now could not be used.
    `aliases` are other addresses that lead to it, `uses` what its site says that it may be used for.
    """

    id: str
    doc: str
    source: str
    title: str
    content_hash: str
    document_kind: str = DocumentKind.HTML
    url: str | None = None
    path: str | None = None
    fragment: str | None = field(default=None, metadata=LATER)
    doc_id: str | None = None
    doc_type: str | None = None
    domain: str | None = None
    status: str | None = None
    version: str | None = None
    lang: str | None = None
    template_type: str | None = None
    page_kind: PageKind = field(default=PageKind.CONTENT, metadata=LATER)
    breadcrumbs: tuple[str, ...] = ()
    heading_path: tuple[str, ...] = field(default=(), metadata=LATER)
    last_modified: str | None = field(default=None, metadata=LATER)
    last_modified_origin: DateOrigin | None = field(default=None, metadata=LATER)
    stale: bool = False
    aliases: tuple[str, ...] = ()
    uses: UseTerms = field(default=(), metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfDoc:
    """A PDF document; `file_id` is its file name, as citations show it; the last fields are as a Page's."""

    id: str
    doc: str
    source: str
    title: str
    content_hash: str
    file_id: str
    page_count: int
    url: str | None = None
    path: str | None = None
    doc_id: str | None = None
    doc_type: str | None = None
    domain: str | None = None
    status: str | None = None
    version: str | None = None
    lang: str | None = None
    last_modified: str | None = field(default=None, metadata=LATER)
    last_modified_origin: DateOrigin | None = field(default=None, metadata=LATER)
    stale: bool = False
    aliases: tuple[str, ...] = ()
    uses: UseTerms = field(default=(), metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands under it up to the next heading of any level.

    `heading_path` runs from the top heading to this one; `ordinal` is its place in reading order,
    from 0; `text` is what chunk offsets point into; `number` ("8.1") stands on the page before the
    heading, and in none of these. Text before the first heading is a section of level 0 with an empty
    heading and path. `content_hash` covers path and text.
    """

    id: str
    doc: str
    source: str
    heading: str
    level: int
    heading_path: tuple[str, ...]
    ordinal: int
    text: str
    content_hash: str = field(default="", metadata=LATER)
    number: str | None = None
    fragment: str | None = None
    url: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfPage:
    """A page of a PDF; `page_no` counts from 1, `page_label` is what is printed on it.

    `content_hash` covers its regions in reading order, without running headers and footers.
    """

    id: str
    doc: str
    source: str
    page_no: int
    page_size: PageSize
    content_hash: str = field(default="", metadata=LATER)
    page_label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfRegion:
    """A block of a PDF page; chunk offsets point into its `text`.

    `content_hash` covers its text, path and type, and of a picture its pixels.
    `caption` names a table or figure, as the region of its own beside it does. `ocr_conf` is the mean
    confidence, 0 to 1, of its words where they were recognised on a picture.
    """

    id: str
    doc: str
    source: str
    region_type: RegionType
    page_no: int
    bbox: BBox
    text: str
    ordinal: int
    content_hash: str = field(default="", metadata=LATER)
    heading_path: tuple[str, ...] = ()
    caption: str | None = None
    ocr_conf: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkNode:
    """A chunk as the graph sees it: a place for edges. Text and vectors are in the chunk store."""

    id: str
    doc: str
    source: str
    content_hash: str
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something that can be called: a command, an operation of an API, a function; `doc` is the file that
    describes it, which lies at `path` beside the source file and is no Page.

    `name` is what its file calls it (`flask.Flask.run`, `git clone`, `getPet`), `tool_type` what it is there
    (`py:method`, `command`, `operation`, `mcp`). `options` are flags or names of parameters, `endpoints` are
    method and path (`GET /pets/{id}`). `input_schema` is a JSON Schema as canonical JSON.
    """

    id: str
    doc: str
    source: str
    path: str
    name: str
    tool_type: str
    aliases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    description: str = ""
    input_schema: str | None = None


class EntityType(StrEnum):
    """How an entity was recognised."""

    DOCUMENT = "document"
    SECTION = "section"
    TERM = "term"
    CODE = "code"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """What documents speak of, however many do; `doc` is its own id, and `source` empty: it is nobody's.

    `disambiguation` tells entities of equal name apart: "planet" of "Mercury (planet)", or the id of the
    document that has the name. `aliases` are its other names, sorted.
    """

    id: str
    doc: str
    name: str
    entity_type: EntityType
    source: str = ""
    disambiguation: str = ""
    aliases: tuple[str, ...] = ()


Node = Page | PdfDoc | Section | PdfPage | PdfRegion | ChunkNode | Tool | Entity

NODE_TYPES: dict[NodeKind, type[Node]] = {
    NodeKind.PAGE: Page,
    NodeKind.SECTION: Section,
    NodeKind.CHUNK: ChunkNode,
    NodeKind.PDF_DOC: PdfDoc,
    NodeKind.PDF_PAGE: PdfPage,
    NodeKind.PDF_REGION: PdfRegion,
    NodeKind.TOOL: Tool,
    NodeKind.ENTITY: Entity,
}

_KIND_OF = {cls: kind for kind, cls in NODE_TYPES.items()}


def kind_of(node: Node) -> NodeKind:
    """Return the kind of a node by its class."""
    return _KIND_OF[type(node)]


def is_document(node: Node) -> TypeGuard[Page | PdfDoc]:
    """Whether a node stands for a whole document; a chapter is a Page, and none."""
    return isinstance(node, Page | PdfDoc) and node.id == node.doc


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage small enough to embed, with everything a citation needs.

    `text == parent.text[offsets[0]:offsets[1]]` in code points, but for the repeated header of a table or
    title of a note.
    `url` has no fragment and `fragment` no '#'. `fragments` are further ids inside the passage or on the
    heading it begins with: a link to one of them leads here. `text_fragment` stands behind `#` and `fragment`
    where no id stands at the passage: `:~:text=` and words by which browsers find it on its page.
    `code_languages` are those of the code in it, as the page names them. `round_trip`: its text was found in
    its box, or its fragment in the page; None where that cannot be told. Times are ISO 8601 in UTC.
    `anchor_texts` come from other documents and are given by `ingest.link`; the times come from the fetch and
    the run. `last_modified`, its origin and `stale` are its document's.
    """

    id: str
    kind: str
    source: str
    doc: str
    text: str
    content_hash: str
    ordinal: int
    offsets: tuple[int, int]
    token_count: int
    heading_path: tuple[str, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    parent_ids: tuple[str, ...] = ()
    doc_id: str | None = None
    doc_type: str | None = None
    domain: str | None = None
    status: str | None = None
    version: str | None = None
    url: str | None = None
    file_path: str | None = None
    fragment: str | None = None
    fragments: tuple[str, ...] = ()
    text_fragment: str | None = None
    section: str | None = None
    section_id: str | None = None
    region_id: str | None = None
    file_id: str | None = None
    page_no: int | None = None
    bbox: BBox | None = None
    page_size: PageSize | None = None
    codes: tuple[str, ...] = ()
    anchor_texts: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    code_languages: tuple[str, ...] = ()
    ocr_conf: float | None = None
    lang: str | None = None
    template_type: str | None = None
    page_kind: PageKind = PageKind.CONTENT
    tool_names: tuple[str, ...] = ()
    structure_confidence: float = 1.0
    round_trip: bool | None = None
    stale: bool = False
    last_modified: str | None = None
    last_modified_origin: DateOrigin | None = None
    fetched_at: str | None = None
    changed_at: str | None = None


def page_of(chunk: Chunk) -> str:
    """Return the id of the Page or PDF that a chunk is part of: of a book the chapter, else its document."""
    return next((one for one in reversed(chunk.parent_ids) if one.startswith("page:")), chunk.doc)


TIMES = ("fetched_at", "changed_at")
"""Chunk fields that stay while its text does."""

OBSERVED_FIELDS = ("last_modified", "last_modified_origin", *TIMES)
"""Chunk fields that depend on when, and how, the content was observed, not on what it says."""
