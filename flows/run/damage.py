"""A published generation against its manifest, its documents, its row hashes and the files behind it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum

from flows.run.generations import lost_links
from flows.run.index import Index
from indexes.digests import sorted_digest
from indexes.embed.cache import SqliteVectorCache
from indexes.embed.export import damaged_files
from indexes.layout import is_repeated
from indexes.own_ledger import ledger_url_of
from indexes.ports import GraphReader, RawStore
from indexes.publish.files import Damage, FileCheck
from indexes.publish.generation import load_generation, store_record
from ingest.urls import is_tools_url
from runtime.progress import StageProgress
from schemas.batches import batched
from schemas.documents import LiveDocument
from schemas.errors import DamageFound, SchemaMismatch, StoreUnavailable
from schemas.nodes import Page, PdfDoc, is_document


class IndexPart(StrEnum):
    """What of an index may be damaged, in the order in which it is made whole, each from those before it.

    The driver of the store may end the process over files of TABLES that are damaged, so nothing is read
    through it then (a changed footer makes it ask for more memory than there is).
    """

    POINTERS = "pointers"
    LEDGER = "ledger"
    DOCUMENTS = "documents"
    FRAGMENTS = "fragments"
    LEDGER_ROWS = "ledger rows"
    VECTORS = "vectors"
    ENCODER = "encoder"
    LINKS = "links"
    AUTHORITY = "authority"
    SIMILAR = "similar"
    ROWS = "rows"
    TABLES = "tables"
    VIEW = "view"
    BYTES = "refused"


_FOLDERS = {"lance": IndexPart.TABLES, "authority": IndexPart.AUTHORITY, "links": IndexPart.LINKS}


def part_of(path: str) -> IndexPart:
    """Which part of an index a file of it is."""
    return _FOLDERS.get(path.partition("/")[0], IndexPart.POINTERS)


Found = tuple[IndexPart, Damage]
Check = Callable[[Index, int, StageProgress], Iterator[Found]]


def find_damage(
    index: Index, generation: int, *, progress: StageProgress | None = None
) -> tuple[Damage, ...]:
    """Everything that a generation should hold and does not, in a stated order; reads all of it.

    *progress* shows the files and documents that have been compared.

    Raises: StoreUnavailable: a server does not answer; what is in the folder and cannot be read is damage.
    """
    return tuple(dict.fromkeys(damage for _, damage in _find(index, generation, progress)))


def find_by_part(
    index: Index, generation: int, *, progress: StageProgress | None = None
) -> Mapping[IndexPart, tuple[Damage, ...]]:
    """The same by the part of the index that it is of; raises as `find_damage` does."""
    found: dict[IndexPart, list[Damage]] = {}
    for part, damage in _find(index, generation, progress):
        found.setdefault(part, []).append(damage)
    return {part: tuple(damage) for part, damage in found.items()}


def _find(index: Index, generation: int, progress: StageProgress | None) -> Iterator[Found]:
    if generation == 0:
        return
    shown = progress or StageProgress(quiet=True)
    outside = list(_run_checks(_WITHOUT_TABLES, index, generation, shown))
    yield from outside
    if all(part is not IndexPart.TABLES for part, _ in outside):
        yield from _run_checks(_THROUGH_TABLES, index, generation, shown)


def damaged_rows(index: Index, generation: int) -> tuple[Damage, ...]:
    """What of this the stores alone tell, row by row."""
    checks: dict[Check, IndexPart] = dict.fromkeys((_stores, _rows), IndexPart.ROWS)
    found = _run_checks(checks, index, generation, StageProgress(quiet=True))
    return tuple(damage for _, damage in found)


def _run_checks(
    checks: Mapping[Check, IndexPart], index: Index, generation: int, progress: StageProgress
) -> Iterator[Found]:
    """Give what checks find; what one cannot read is damage of its part, and the others still look."""
    for check, part in checks.items():
        try:
            yield from check(index, generation, progress)
        except StoreUnavailable as error:
            if error.subject not in _EMBEDDED:
                raise
            yield part, (error.subject, error.message)
        except (DamageFound, SchemaMismatch) as error:
            yield part, (error.subject or check.__name__.strip("_"), error.message)
        except _UNREADABLE as error:
            yield part, (check.__name__.strip("_"), f"cannot be read: {error!r}")


_EMBEDDED = ("chunks", "nodes", "edges")
_UNREADABLE = (ValueError, LookupError, TypeError)
"""What becomes of a row that is no longer what it was."""
_NODES = 5_000
"""Nodes read at once."""


def _manifest(index: Index, generation: int, _progress: StageProgress) -> Iterator[Found]:
    described = load_generation(index.layout, generation)
    if not is_repeated(index.manifest, described.index):
        yield IndexPart.POINTERS, (index.layout.manifest.name, "is damaged")


def _files(index: Index, generation: int, progress: StageProgress) -> Iterator[Found]:
    """Every file that readers open, byte for byte: LanceDB gives a flipped bit back without a word."""
    described = load_generation(index.layout, generation)
    check, files = FileCheck(index.layout.root), sorted(described.files.items())
    for path, stamp in progress.over("files", files, total=len(files)):
        yield from ((part_of(path), damage) for damage in check.damaged({path: stamp}))


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


def _ledger_file(index: Index, _generation: int, _progress: StageProgress) -> Iterator[Found]:
    yield from ((IndexPart.LEDGER, fault) for fault in ledger_faults(index))


def _vectors(index: Index, _generation: int, _progress: StageProgress) -> Iterator[Found]:
    if index.vectors.exists():
        with closing(SqliteVectorCache(index.vectors, model_key="")) as vectors:
            if damaged := vectors.damaged():
                told = f"{damaged} vectors do not match their checksum"
                yield IndexPart.VECTORS, (index.vectors.name, told)


def _ledger(index: Index, generation: int, _progress: StageProgress) -> Iterator[Found]:
    """A ledger that was lost holds no document that readers see; one from a backup, fewer or more."""
    if index.ledger.generations.get(generation) is None:
        if generation == index.current():
            told = f"does not know generation {generation}; the next run rebuilds it from the graph"
            yield IndexPart.LEDGER, ("ledger", told)
        return
    for node in _unknown_documents(index.graph.at(generation), index.ledger.generations.live(generation)):
        yield IndexPart.DOCUMENTS, (node.url or node.path or node.id, "document is not in the ledger")


def _unknown_documents(graph: GraphReader, live: Collection[str]) -> tuple[Page | PdfDoc, ...]:
    """Documents that only the graph knows, by rows that are what their hash says: others are its damage."""
    try:
        found = [node for node in graph.scan_nodes() if is_document(node) and node.id not in live]
    except _UNREADABLE:
        ids = sorted(graph.row_hashes()[0].keys() - set(graph.damaged_rows()))
        whole = (node for part in batched(ids, _NODES) for node in graph.nodes(part))
        return tuple(node for node in whole if is_document(node) and node.id not in live)
    damaged = frozenset(graph.damaged_rows()) if found else frozenset()
    return tuple(node for node in found if node.id not in damaged)


def _links(index: Index, generation: int, _progress: StageProgress) -> Iterator[Found]:
    """What authority is computed from by the next run."""
    if lost := lost_links(index, generation):
        yield IndexPart.LINKS, (lost, "is missing or damaged")


def _encoder(index: Index, generation: int, _progress: StageProgress) -> Iterator[Found]:
    folder = index.layout.root / index.chunks.space(generation).encoder
    for name in damaged_files(folder):
        yield IndexPart.ENCODER, (f"{folder.name}/{name}", "is missing or damaged")


def _stores(index: Index, generation: int, _progress: StageProgress) -> Iterator[Found]:
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
                told = f"{what} is {found[what]}, the generation says {promised[table][what]}"
                yield IndexPart.ROWS, (table, told)


def _view(index: Index, generation: int, _progress: StageProgress) -> Iterator[Found]:
    """People who look into the graph store see what readers see, unless a change of it was cut off."""
    if generation == index.current() and not index.graph.shows(generation):
        told = f"its store does not show people generation {generation}; the next run does it"
        yield IndexPart.VIEW, ("graph", told)


def _rows(index: Index, generation: int, _progress: StageProgress) -> Iterator[Found]:
    for id_ in index.chunks.at(generation).damaged_rows():
        yield IndexPart.ROWS, (id_, "chunk row differs from its hash")
    graph = index.graph.at(generation)
    for id_ in graph.damaged_rows():
        yield IndexPart.ROWS, (id_, "graph row differs from its hash")
    known = set(graph.row_hashes()[0])
    for edge in graph.scan_edges():
        if edge.src not in known or edge.dst not in known:
            told = f"{edge.kind.value} edge leads to or from a node that is not there"
            yield IndexPart.ROWS, (edge.id, told)
    chunks = set(index.chunks.at(generation).row_hashes())
    for missing in sorted(chunks - known):
        yield IndexPart.ROWS, (missing, "chunk has no node in the graph")


def _documents(index: Index, generation: int, progress: StageProgress) -> Iterator[Found]:
    live = index.ledger.generations.live(generation)
    graph = index.graph.at(generation)
    known = graph.row_hashes()[0].keys() & live.keys()
    # A file of tools is no node itself; its tools are.
    tools = [doc for doc, document in live.items() if is_tools_url(document.uri)]
    known |= {node.doc for node in graph.nodes_of(tools)}
    for doc, document in progress.over("verify", live.items(), total=len(live)):
        if doc not in known:
            yield IndexPart.ROWS, (document.uri, "document has no node in the graph")
        if fault := _fault(index.fragments, document.fragment_sha):
            yield IndexPart.FRAGMENTS, (document.uri, f"parsed document {fault}")
    newest = dict(_fetched(index, live.values()))
    for uri, raw_sha in newest.items():
        if fault := _fault(index.raw, raw_sha):
            yield IndexPart.BYTES, (uri, f"what was fetched {fault}")
    for doc, drawn in index.ledger.origins.of_generation(generation).items():
        if drawn is not None and newest.get(live[doc].uri) != drawn and not index.raw.has(drawn):
            yield IndexPart.BYTES, (live[doc].uri, "the PDF whose pages are shown is missing or damaged")


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


_WITHOUT_TABLES: Mapping[Check, IndexPart] = {
    _manifest: IndexPart.POINTERS,
    _files: IndexPart.POINTERS,
    _ledger_file: IndexPart.LEDGER,
    _vectors: IndexPart.VECTORS,
    _encoder: IndexPart.ENCODER,
}
_THROUGH_TABLES: Mapping[Check, IndexPart] = {
    _ledger: IndexPart.LEDGER,
    _links: IndexPart.LINKS,
    _stores: IndexPart.ROWS,
    _rows: IndexPart.ROWS,
    _documents: IndexPart.ROWS,
    _view: IndexPart.VIEW,
}
"""Every check in the order in which it is told, and the part that is damaged where it cannot read."""


HOW: Mapping[IndexPart, str] = {
    IndexPart.POINTERS: "put back from what repeats them",
    IndexPart.LEDGER: "filled again from the graph and the parsed documents",
    IndexPart.DOCUMENTS: "entered in the ledger again, from the graph and the parsed documents",
    IndexPart.FRAGMENTS: "parsed again from the bytes, in place: their names are their hashes",
    IndexPart.LEDGER_ROWS: "written again from the parsed documents, in place",
    IndexPart.VECTORS: "dropped, and taken from the chunk store again",
    IndexPart.ENCODER: "exported again from the model, in place",
    IndexPart.LINKS: "read from the graph again; in place where the hash agrees, else as a generation",
    IndexPart.AUTHORITY: "weighed again; in place where the hash agrees, else as a generation",
    IndexPart.SIMILAR: "compared again; in place where the hash agrees, else as a generation",
    IndexPart.ROWS: "linked again from the parsed documents; the rows that differ make a generation",
    IndexPart.TABLES: "all rows are written into new tables, as a generation",
    IndexPart.VIEW: "the view for people in the graph store is rebuilt",
    IndexPart.BYTES: "nothing else holds these bytes; a run of the source fetches them again: "
    "sitegraph run SOURCE.yaml",
}

FIRST = frozenset({IndexPart.LEDGER, IndexPart.DOCUMENTS})
"""After these everything is looked at again: what is damaged shows only where the ledger is whole."""

NEW_GENERATION = frozenset({IndexPart.ROWS, IndexPart.TABLES})


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairStep:
    """A part that is made whole, and all that is damaged of it."""

    part: IndexPart
    damage: tuple[Damage, ...]

    @property
    def how(self) -> str:
        """Say what is done, or why nothing is."""
        return HOW[self.part]


def plan_repair(
    found: Mapping[IndexPart, Sequence[Damage]], *, more: Mapping[IndexPart, Sequence[Damage]], rows: bool
) -> tuple[RepairStep, ...]:
    """Decide what to do, in order.

    Args: found: damage by part, as `find_by_part` gives it; more: damage that nobody else looks for; rows:
    compare all rows with what the parsed documents give, whether damage was seen or not.
    """
    damage = {part: (*more.get(part, ()), *found.get(part, ())) for part in IndexPart}
    wanted = {part for part in IndexPart if damage[part]} | ({IndexPart.ROWS} if rows else set())
    if IndexPart.TABLES in wanted:  # the whole contains the difference
        damage[IndexPart.TABLES] += damage[IndexPart.ROWS]
        wanted.discard(IndexPart.ROWS)
    return tuple(
        RepairStep(part=part, damage=tuple(dict.fromkeys(damage[part])))
        for part in IndexPart
        if part in wanted
    )


def ledger_is_lost(steps: Iterable[RepairStep]) -> bool:
    """Whether both the ledger and the tables that it could be told from are damaged."""
    return {IndexPart.LEDGER, IndexPart.TABLES} <= {step.part for step in steps}


def worth_trying(steps: Sequence[RepairStep], tried: Iterable[RepairStep]) -> tuple[RepairStep, ...]:
    """Return the steps to take now: those before which the ledger must be whole wait, what has been tried for
    the same damage is not tried again, and rows that a difference did not repair are all written again.
    """
    done, now = set(tried), []
    for step in steps:
        if step.part is IndexPart.BYTES:
            continue
        if step not in done:
            now.append(step)
        elif step.part is IndexPart.ROWS and step.damage:
            now.append(RepairStep(part=IndexPart.TABLES, damage=step.damage))
    now = [step for step in now if step not in done]
    first = [step for step in now if step.part in FIRST]
    return tuple(first or now)
