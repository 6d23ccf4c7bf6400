"""A published generation against its manifest, its documents, its row hashes and the files behind it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from enum import StrEnum

from flows.run.batches import cut
from flows.run.index import Index
from flows.run.kept_generations import lost_links
from indexes.digests import sorted_digest
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.export import damaged_files
from indexes.manifest import is_repeated
from indexes.own_ledger import ledger_url_of
from indexes.ports import GraphReader, RawStore
from indexes.publish.files import Damage, FileCheck
from indexes.publish.generation import load_generation, store_record
from ingest.urls import is_tools_url
from runtime.progress import StageProgress
from schemas.documents import LiveDocument
from schemas.errors import DamageFound, SchemaMismatch, StoreUnavailable
from schemas.nodes import Page, PdfDoc, is_document

__all__ = ["Damage", "find_damage"]

TABLES = "lance/"
"""Where the tables' files lie; the driver of the store may end the process over one that is damaged, so
nothing is read through it then (a changed footer makes it ask for more memory than there is).
"""

Check = Callable[[Index, int, StageProgress], Iterator[Damage]]

NO_NODE = "document has no node in the graph"
PARSED, FETCHED = "parsed document", "what was fetched"
DRAWN = "the PDF whose pages are shown is missing or damaged"
UNKNOWN_DOCUMENT = "document is not in the ledger"
"""By these a repair tells what is damaged (flows/repair/plan.py)."""


class IndexPart(StrEnum):
    """What of an index is compared, in this order."""

    MANIFEST = "manifest"
    FILES = "files"
    DATABASES = "databases"
    ENCODER = "encoder"
    LEDGER = "ledger"
    LINKS = "links"
    STORES = "stores"
    ROWS = "rows"
    DOCUMENTS = "documents"
    VIEW = "view"


def find_damage(
    index: Index, generation: int, *, progress: StageProgress | None = None
) -> tuple[Damage, ...]:
    """Everything that a generation should hold and does not, in a stated order; reads all of it.

    *progress* shows the files and documents that have been compared.

    Raises: StoreUnavailable: a server does not answer; what is in the folder and cannot be read is damage.
    """
    found = find_by_part(index, generation, progress=progress)
    return tuple(dict.fromkeys(damage for part in found.values() for damage in part))


def find_by_part(
    index: Index, generation: int, *, progress: StageProgress | None = None
) -> Mapping[IndexPart, tuple[Damage, ...]]:
    """The same by the part of the index that it is of; raises as `find_damage` does."""
    if generation == 0:
        return {}
    shown = progress or StageProgress(quiet=True)
    found = {part: _all_of(index, generation, [_CHECKS[part]], shown) for part in _WITHOUT_TABLES}
    if not any(path.startswith(TABLES) for path, _ in found[IndexPart.FILES]):
        rest = [part for part in IndexPart if part not in _WITHOUT_TABLES]
        found |= {part: _all_of(index, generation, [_CHECKS[part]], shown) for part in rest}
    return {part: damage for part, damage in found.items() if damage}


def damaged_rows(index: Index, generation: int) -> tuple[Damage, ...]:
    """What of this the stores alone tell, row by row."""
    return _all_of(index, generation, (_stores, _rows), StageProgress(quiet=True))


def _all_of(
    index: Index, generation: int, checks: Iterable[Check], progress: StageProgress
) -> tuple[Damage, ...]:
    return tuple(damage for check in checks for damage in _tried(index, generation, check, progress))


def _tried(index: Index, generation: int, check: Check, progress: StageProgress) -> Iterator[Damage]:
    """Return what a check finds; what it cannot read is what it has found, and the others still look."""
    try:
        yield from check(index, generation, progress)
    except StoreUnavailable as error:
        if error.subject not in _EMBEDDED:
            raise
        yield error.subject, error.message
    except (DamageFound, SchemaMismatch) as error:
        yield error.subject or check.__name__.strip("_"), error.message
    except _UNREADABLE as error:
        yield check.__name__.strip("_"), f"cannot be read: {error!r}"


_EMBEDDED = ("chunks", "nodes", "edges")
_UNREADABLE = (ValueError, LookupError, TypeError)
"""What becomes of a row that is no longer what it was."""
_NODES = 5_000
"""Nodes read at once."""


def _manifest(index: Index, generation: int, _progress: StageProgress) -> Iterator[Damage]:
    described = load_generation(index.layout, generation)
    if not is_repeated(index.manifest, described.index):
        yield index.layout.manifest.name, "is damaged"


def _files(index: Index, generation: int, progress: StageProgress) -> Iterator[Damage]:
    """Every file that readers open, byte for byte: LanceDB gives a flipped bit back without a word."""
    described = load_generation(index.layout, generation)
    check, files = FileCheck(index.layout.root), sorted(described.files.items())
    for path, stamp in progress.over("files", files, total=len(files)):
        yield from check.damaged({path: stamp})


def ledger_faults(index: Index) -> Iterator[Damage]:
    """What SQLite finds wrong with the file of a ledger; a server looks after its own.

    Raises: DamageFound: it is no database, or lost.
    """
    ledger = index.ledger
    if ledger_url_of(index.layout, index.settings.ledger_url).startswith("sqlite:///"):
        # Read only: it may take minutes, and whoever writes would wait for them.
        reading = ledger.engine.execution_options(read_only=True)
        with reading.connect() as connection:
            for fault in connection.exec_driver_sql("PRAGMA integrity_check").scalars():
                if fault != "ok":
                    yield "ledger", f"{fault}; put a good copy in its place, or delete the file"


def _databases(index: Index, _generation: int, _progress: StageProgress) -> Iterator[Damage]:
    """What no reader opens, and the next run builds on."""
    yield from ledger_faults(index)
    if index.vectors.exists():
        with closing(SqliteVectorCache(index.vectors, model_key="")) as vectors:
            if damaged := vectors.damaged():
                yield index.vectors.name, f"{damaged} vectors do not match their checksum"


def _ledger(index: Index, generation: int, _progress: StageProgress) -> Iterator[Damage]:
    """A ledger that was lost holds no document that readers see; one from a backup, fewer or more."""
    if index.ledger.generations.get(generation) is None:
        if generation == index.current():
            yield "ledger", f"does not know generation {generation}; the next run rebuilds it from the graph"
        return
    for node in _unknown_documents(index.graph.at(generation), index.ledger.generations.live(generation)):
        yield node.url or node.path or node.id, UNKNOWN_DOCUMENT


def _unknown_documents(graph: GraphReader, live: Collection[str]) -> tuple[Page | PdfDoc, ...]:
    """Documents that only the graph knows, by rows that are what their hash says: others are its damage."""
    try:
        found = [node for node in graph.scan_nodes() if is_document(node) and node.id not in live]
    except _UNREADABLE:
        ids = sorted(graph.row_hashes()[0].keys() - set(graph.damaged_rows()))
        whole = (node for part in cut(ids, _NODES) for node in graph.nodes(part))
        return tuple(node for node in whole if is_document(node) and node.id not in live)
    damaged = frozenset(graph.damaged_rows()) if found else frozenset()
    return tuple(node for node in found if node.id not in damaged)


def _links(index: Index, generation: int, _progress: StageProgress) -> Iterator[Damage]:
    """What authority is computed from by the next run."""
    if lost := lost_links(index, generation):
        yield lost, "is missing or damaged"


def _encoder(index: Index, generation: int, _progress: StageProgress) -> Iterator[Damage]:
    folder = index.layout.root / index.chunks.space(generation).encoder
    for name in damaged_files(folder):
        yield f"{folder.name}/{name}", "is missing or damaged"


def _stores(index: Index, generation: int, _progress: StageProgress) -> Iterator[Damage]:
    promised = load_generation(index.layout, generation).stores
    graph, chunks = index.graph.at(generation), index.chunks.at(generation)
    states = {"chunks": chunks.state(), **dict(zip(("nodes", "edges"), graph.state(), strict=True))}
    held = {table: store_record(state) for table, state in states.items()}
    if any("lanes" not in record for record in promised.values()):  # published by an earlier version
        hashes = dict(zip(("nodes", "edges"), graph.row_hashes(), strict=True), chunks=chunks.row_hashes())
        held = {table: record | {"digest": sorted_digest(hashes[table])} for table, record in held.items()}
    for table, found in held.items():
        for what in ("counts", "digest"):
            if promised[table][what] != found[what]:
                yield table, f"{what} is {found[what]}, the generation says {promised[table][what]}"


def _view(index: Index, generation: int, _progress: StageProgress) -> Iterator[Damage]:
    """People who look into the graph store see what readers see, unless a change of it was cut off."""
    if generation == index.current() and not index.graph.shows(generation):
        yield "graph", f"its store does not show people generation {generation}; the next run does it"


def _rows(index: Index, generation: int, _progress: StageProgress) -> Iterator[Damage]:
    for id_ in index.chunks.at(generation).damaged_rows():
        yield id_, "chunk row differs from its hash"
    graph = index.graph.at(generation)
    for id_ in graph.damaged_rows():
        yield id_, "graph row differs from its hash"
    known = set(graph.row_hashes()[0])
    for edge in graph.scan_edges():
        if edge.src not in known or edge.dst not in known:
            yield edge.id, f"{edge.kind.value} edge leads to or from a node that is not there"
    chunks = set(index.chunks.at(generation).row_hashes())
    for missing in sorted(chunks - known):
        yield missing, "chunk has no node in the graph"


def _documents(index: Index, generation: int, progress: StageProgress) -> Iterator[Damage]:
    live = index.ledger.generations.live(generation)
    graph = index.graph.at(generation)
    known = graph.row_hashes()[0].keys() & live.keys()
    # A file of tools is no node itself; its tools are.
    tools = [doc for doc, document in live.items() if is_tools_url(document.uri)]
    known |= {node.doc for node in graph.nodes_of(tools)}
    for doc, document in progress.over("verify", live.items(), total=len(live)):
        if doc not in known:
            yield document.uri, NO_NODE
        if fault := _fault(index.fragments, document.fragment_sha):
            yield document.uri, f"{PARSED} {fault}"
    newest = dict(_fetched(index, live.values()))
    for uri, raw_sha in newest.items():
        if fault := _fault(index.raw, raw_sha):
            yield uri, f"{FETCHED} {fault}"
    for doc, drawn in index.ledger.origins.of_generation(generation).items():
        if drawn is not None and newest.get(live[doc].uri) != drawn and not index.raw.has(drawn):
            yield live[doc].uri, DRAWN


def _fetched(index: Index, live: Iterable[LiveDocument]) -> Iterator[tuple[str, str]]:
    """Documents and the hash of the bytes last fetched of each, which a new parser would begin with."""
    uris: dict[str, list[str]] = {}
    for document in live:
        uris.setdefault(document.source, []).append(document.uri)
    for source, wanted in uris.items():
        known = index.ledger.documents.get(source, wanted)
        kept = ((uri, row) for uri, row in sorted(known.items()) if not row.is_withheld)
        yield from ((uri, row.raw_sha) for uri, row in kept if row.raw_sha is not None)


def _fault(store: RawStore, sha256: str) -> str | None:
    try:
        store.get(sha256)
    except DamageFound as error:
        return error.message
    return None


_CHECKS: Mapping[IndexPart, Check] = {
    IndexPart.MANIFEST: _manifest,
    IndexPart.FILES: _files,
    IndexPart.DATABASES: _databases,
    IndexPart.ENCODER: _encoder,
    IndexPart.LEDGER: _ledger,
    IndexPart.LINKS: _links,
    IndexPart.STORES: _stores,
    IndexPart.ROWS: _rows,
    IndexPart.DOCUMENTS: _documents,
    IndexPart.VIEW: _view,
}
_WITHOUT_TABLES = (IndexPart.MANIFEST, IndexPart.FILES, IndexPart.DATABASES, IndexPart.ENCODER)
