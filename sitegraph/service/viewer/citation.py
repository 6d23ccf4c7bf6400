"""A citation opened: what stands around it, what it was before, and what became of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from indexes.wiring import Readers
from retrieval.bundle.build import locate_in_pdf
from retrieval.bundle.passage import split_passage
from retrieval.bundle.render import cite_line
from schemas.edges import EdgeKind
from schemas.errors import SitegraphError
from schemas.feed import FeedEntry
from schemas.nodes import Chunk, Page, PdfDoc, Section, page_of
from sitegraph.service.problems import HttpProblem
from sitegraph.service.viewer.archive import LedgerArchive, Past
from sitegraph.service.viewer.diff import Piece, compare
from sitegraph.service.viewer.places import document_of, live_address
from sitegraph.service.viewer.versions import became, was

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
        live=live_address(chunk),
        around=_around(readers, chunk),
        earlier=earlier,
        later=later,
        versions=archive.past(
            readers,
            lambda past: _dated(
                past, was(chunk.id, lambda id_: past.ledger.lineage.of_id(id_, past.numbers))
            ),
        ),
    )


def _superseded(readers: Readers, archive: LedgerArchive, chunk_id: str) -> Superseded:
    steps = archive.past(
        readers,
        lambda past: _dated(past, became(chunk_id, lambda id_: past.ledger.lineage.of_id(id_, past.numbers))),
    )
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
