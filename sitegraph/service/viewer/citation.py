"""A citation opened: what stands around it, what it was before, and its page of a PDF."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from indexes.wiring import Readers
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.render import cite_line, split_passage
from runtime.page_images import DPI, DrawnPage
from schemas.changes import FeedEntry
from schemas.edges import EdgeKind
from schemas.errors import ParseError, SitegraphError
from schemas.evidence import Evidence, PdfLocation
from schemas.ids import pdf_page_id
from schemas.nodes import Chunk, Page, PageSize, PdfDoc, Section, is_document, page_of, turn
from sitegraph.actions.archive import LedgerArchive, Past
from sitegraph.actions.blame import became, was
from sitegraph.actions.word_difference import Piece, compare
from sitegraph.service.problems import HttpProblem


def live_address(cited: Chunk | Evidence, pdf: PdfLocation | None) -> str | None:
    """Return the address of a passage on its site: its fragment, words to find it by, or its page of a PDF.

    Source: WICG, "Text Fragments" (`:~:text=`); RFC 8118, 3 (`#page=`).
    """
    opens_at = f"page={pdf.page}" if pdf else f"{cited.fragment or ''}{cited.text_fragment or ''}"
    return f"{cited.url}#{opens_at}" if cited.url and opens_at else cited.url


def document_of(readers: Readers, doc: str) -> Page | PdfDoc | None:
    """Return the node of a document; None where it is not there, or the graph is not."""
    found = readers.graph.nodes([doc]) if readers.graph else ()
    return next((node for node in found if is_document(node)), None)


def titles_of(readers: Readers, docs: set[str]) -> dict[str, str]:
    """Return what documents are called, by id."""
    nodes = readers.graph.nodes(docs) if readers.graph and docs else ()
    return {node.id: name_of(node) for node in nodes if isinstance(node, Page | PdfDoc)}


def name_of(node: Page | PdfDoc) -> str:
    """Return the title of a document, else where it is."""
    return node.title.strip() or node.url or node.path or node.id


def trail_of(chunk: Chunk) -> tuple[str, ...]:
    """Return the headings over a passage, else the way to its document."""
    return chunk.heading_path or chunk.breadcrumbs


AROUND_MAX = 8000
"""Letters that are shown before a passage, behind it, and of a section beside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The section of a passage in three, and the sections before and after it; long texts are cut."""

    before: str
    passage: str
    after: str
    previous: Section | None = None
    following: Section | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedChange:
    """A change and when its generation was made."""

    entry: FeedEntry
    as_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A passage of the generation that is read; `versions` is None where the ledger cannot be read.

    `earlier` and `later` are the ids of its neighbours in reading order.
    """

    chunk: Chunk
    document: Page | PdfDoc | None
    citation: str
    live: str | None
    around: Around
    earlier: str | None
    later: str | None
    versions: tuple[DatedChange, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """A passage of an earlier generation: changes since, what it said if that is kept, what is there now.

    `old` is None where its generation is kept no longer, `said` where its text is not either, and `pieces`
    where one of the two texts is not there.
    """

    id: str
    steps: tuple[DatedChange, ...]
    old: Chunk | None
    said: str | None
    new: Chunk | None
    pieces: tuple[Piece, ...] | None
    uri: str


def open_citation(readers: Readers, archive: LedgerArchive, chunk_id: str) -> Opened | Superseded:
    """Return the passage of an id, of this generation or one before.

    Raises: HttpProblem: no generation that is known has had it.
    """
    found = readers.chunks.get([chunk_id])
    return _opened(readers, archive, found[0]) if found else _superseded(readers, archive, chunk_id)


def _opened(readers: Readers, archive: LedgerArchive, chunk: Chunk) -> Opened:
    earlier, later = _neighbours(readers, chunk)
    return Opened(
        chunk=chunk,
        document=document_of(readers, chunk.doc),
        citation=cite_line(chunk, locate_in_pdf(chunk)),
        live=live_address(chunk, locate_in_pdf(chunk)),
        around=_around(readers, chunk),
        earlier=earlier,
        later=later,
        versions=archive.past(readers, lambda past: _dated(past, was(chunk.id, past.entries_of))),
    )


def _superseded(readers: Readers, archive: LedgerArchive, chunk_id: str) -> Superseded:
    steps = archive.past(readers, lambda past: _dated(past, became(chunk_id, past.entries_of)))
    if not steps:
        unknown = "; the ledger, which knows earlier ones, cannot be read" if steps is None else ""
        detail = f"generation {readers.generation} has no {chunk_id}{unknown}"
        raise HttpProblem(404, detail, "NotFound")
    old = read_before(readers, archive, steps[0].entry.generation, [chunk_id]).get(chunk_id)
    last = steps[-1].entry.new_id
    new = next(iter(readers.chunks.get([last])), None) if last else None
    said = old.text if old else read_former(readers, archive, [chunk_id]).get(chunk_id)
    return Superseded(
        id=chunk_id,
        steps=steps,
        old=old,
        said=said,
        new=new,
        pieces=compare(said, new.text) if said is not None and new else None,
        uri=steps[-1].entry.uri,
    )


def read_former(readers: Readers, archive: LedgerArchive, ids: Collection[str]) -> Mapping[str, str]:
    """Return what passages that are no more said, by id, as far as the ledger keeps it."""
    return archive.past(readers, lambda past: past.ledger.lineage.former_texts(ids)) or {}


def read_before(
    readers: Readers, archive: LedgerArchive, generation: int, ids: list[str]
) -> dict[str, Chunk]:
    """Return passages as they were before *generation*, by id; none where that is kept no longer."""
    base = archive.past(
        readers, lambda past: next((o.base for o in past.line if o.generation == generation), None)
    )
    if not base:
        return {}
    try:
        with archive.chunks_at(readers, base) as chunks:
            return {chunk.id: chunk for chunk in chunks.get(ids)}
    except SitegraphError:
        return {}


def _dated(past: Past, entries: tuple[FeedEntry, ...]) -> tuple[DatedChange, ...]:
    as_of = {one.generation: one.as_of for one in past.line}
    return tuple(DatedChange(entry=entry, as_of=as_of.get(entry.generation, "")) for entry in entries)


def _neighbours(readers: Readers, chunk: Chunk) -> tuple[str | None, str | None]:
    """Passages before and after in reading order; those of a PDF stand on its page."""
    if chunk.page_no is not None:
        return None, None
    ids = [one.id for one in readers.chunks.of_documents([chunk.doc])]
    at = ids.index(chunk.id)
    return (ids[at - 1] if at else None), next(iter(ids[at + 1 :]), None)


def _around(readers: Readers, chunk: Chunk) -> Around:
    before, passage, after = split_passage(readers.graph, chunk)
    previous, following = _sections_beside(readers, chunk)
    return Around(
        before=cut(before, from_end=True),
        passage=passage,
        after=cut(after),
        previous=previous and replace(previous, text=cut(previous.text, from_end=True)),
        following=following and replace(following, text=cut(following.text)),
    )


def cut(text: str, *, from_end: bool = False) -> str:
    """Return the end of a long text that is nearest to the passage: a book may be a single section."""
    if len(text) <= AROUND_MAX:
        return text
    return f"… {text[-AROUND_MAX:]}" if from_end else f"{text[:AROUND_MAX]} …"


def _sections_beside(readers: Readers, chunk: Chunk) -> tuple[Section | None, Section | None]:
    if readers.graph is None or chunk.section_id is None:
        return None, None
    inside = readers.graph.edges_from([page_of(chunk)], kinds={EdgeKind.CONTAINS})
    nodes = readers.graph.nodes([edge.dst for edge in inside])
    sections = sorted((n for n in nodes if isinstance(n, Section)), key=lambda section: section.ordinal)
    place = next((at for at, one in enumerate(sections) if one.id == chunk.section_id), None)
    if place is None:
        return None, None
    return (sections[place - 1] if place else None), next(iter(sections[place + 1 :]), None)


FIT = 0
ZOOMS = (FIT, 100, 150, 200)
"""Per cent of the size on paper; FIT is the width of the window."""

_NOT_NOW = "the picture cannot be drawn now; the server's log says why"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Where a passage stands on the page as displayed, in points from its top left."""

    chunk: str
    text: str
    x: float
    y: float
    width: float
    height: float
    cited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    """A page, counted from 1; `size` is None where it cannot be drawn, and `trouble` says why.

    `pixels` is the width it is shown at, None for that of the window.
    """

    page_no: int
    pages: int
    dpi: int
    passages: tuple[Chunk, ...]
    boxes: tuple[Box, ...] = ()
    size: PageSize | None = None
    pixels: int | None = None
    trouble: str | None = None


def dpi_of(zoom: int) -> int:
    """Return the resolution a picture is drawn at."""
    return DPI * max(zoom, 100) // 100


def read_sheet(
    readers: Readers, archive: LedgerArchive, *, doc: str, page_no: int, pages: int, cited: str, zoom: int
) -> ShownPage:
    """Return a page of the generation that is read; its text is there also where its picture is not."""
    passages = chunks_on_page(readers, doc, page_no)
    dpi = dpi_of(zoom)
    try:
        drawn = archive.page(readers, doc, page_no, generation=readers.generation, dpi=dpi)
    except SitegraphError as error:
        trouble = error.message
        if not isinstance(error, ParseError):
            archive.warn(f"sitegraph: warning: {error}")
            trouble = _NOT_NOW
        return ShownPage(page_no=page_no, pages=pages, dpi=dpi, passages=passages, trouble=trouble)
    return ShownPage(
        page_no=page_no,
        pages=pages,
        dpi=dpi,
        passages=passages,
        boxes=boxes_of(passages, drawn, cited=cited),
        size=drawn.size,
        pixels=round(drawn.size.width * 96 / 72 * zoom / 100) if zoom else None,
    )


def boxes_of(passages: Collection[Chunk], drawn: DrawnPage, *, cited: str) -> tuple[Box, ...]:
    """Return the boxes of passages on the page as displayed, the cited one last, so that it is on top.

    Passages cut from one region have one box: it is that of the cited one, if it is among them.
    """
    found: dict[object, Box] = {}
    for chunk in sorted(passages, key=lambda chunk: chunk.id == cited):
        box = _box(chunk, drawn, cited=chunk.id == cited)
        if box is not None and (chunk.bbox not in found or box.cited):
            found.pop(chunk.bbox, None)
            found[chunk.bbox] = box
    return tuple(found.values())


def _box(chunk: Chunk, drawn: DrawnPage, *, cited: bool) -> Box | None:
    if chunk.bbox is None:
        return None
    width, height = drawn.size.width, drawn.size.height
    sideways = drawn.rotation % 180 == 90
    unturned = PageSize(height, width) if sideways else PageSize(width, height)
    at = turn(chunk.bbox, size=unturned, rotation=drawn.rotation)
    return Box(
        chunk=chunk.id,
        text=chunk.text,
        x=round(at.x0, 1),
        y=round(at.y0, 1),
        width=round(at.x1 - at.x0, 1),
        height=round(at.y1 - at.y0, 1),
        cited=cited,
    )


def chunks_on_page(readers: Readers, doc: str, page_no: int) -> tuple[Chunk, ...]:
    """Return the passages of a page in reading order; with the graph the whole document need not be read."""
    regions = _contents(readers, [pdf_page_id(doc, page_no)])
    chunks = readers.chunks.get(_contents(readers, regions))
    if chunks:
        return tuple(sorted(chunks, key=lambda chunk: chunk.ordinal))
    return tuple(chunk for chunk in readers.chunks.of_documents([doc]) if chunk.page_no == page_no)


def _contents(readers: Readers, ids: Collection[str]) -> list[str]:
    if readers.graph is None or not ids:
        return []
    return [edge.dst for edge in readers.graph.edges_from(ids, kinds={EdgeKind.CONTAINS})]
