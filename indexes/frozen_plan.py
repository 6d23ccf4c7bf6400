"""A frozen plan: its payloads in the outbox, applied to both stores and compared with what they hold."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

from indexes.embed.pending import chunk_vectors, text_input, vector_texts
from indexes.ports import (
    ChunkReader,
    ChunkVectors,
    ChunkWriter,
    GraphReader,
    GraphWriter,
    RawStore,
    StoreState,
    TokenVectors,
    Vector,
)
from schemas.batches import batched
from schemas.changes import Counts, RowChanges
from schemas.cost import count_rows, counted_rows
from schemas.errors import DamageFound
from schemas.evidence import SearchField
from schemas.ids import canonical_json, sha256_hex
from schemas.nodes import Chunk
from schemas.records import Record, from_record, to_record


def dump_payload(store: RawStore, changes: RowChanges) -> str:
    """Keep one payload, a line for each field, and give its hash."""
    lines = (canonical_json({name: rows}) for name, rows in to_record(changes).items())
    return store.put("\n".join(lines).encode())


def load_payload(store: RawStore, sha256: str, *only: str) -> RowChanges:
    """Read one payload back, whole or *only* some fields of it, since rows take long to make.

    Raises: DamageFound: the payload is damaged or lost.
    """
    return from_record(RowChanges, _read_fields(store, sha256, only))


def _read_fields(store: RawStore, sha256: str, only: Collection[str]) -> Record:
    """Decode the lines of some fields, or of all; an earlier version kept all fields in one line."""
    lines, begins = store.get(sha256).splitlines(), tuple(f'{{"{name}":'.encode() for name in only)
    read: dict[str, Any] = {}
    for line in lines:
        if not only or len(lines) == 1 or line.startswith(begins):
            read |= json.loads(line)
    return {name: rows for name, rows in read.items() if not only or name in only}


def plan_sha256(payloads: Sequence[str], *, base: int, source: str) -> str:
    """Hash a plan: its base, its source and its payloads in order."""
    return sha256_hex(canonical_json({"base": base, "source": source, "payloads": list(payloads)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A frozen plan; payloads are read one at a time, so that memory stays bounded."""

    store: RawStore
    payloads: tuple[str, ...]

    def __iter__(self) -> Iterator[RowChanges]:
        return self.parts()

    def parts(self, *only: str) -> Iterator[RowChanges]:
        """The payloads in order, whole or *only* some fields of each."""
        return (load_payload(self.store, sha, *only) for sha in self.payloads)

    def chunk_ids(self) -> frozenset[str]:
        """Ids of the chunks that it writes, without making their rows.

        Raises: DamageFound: a payload is damaged or lost.
        """
        records = (_read_fields(self.store, sha, ["chunks"]) for sha in self.payloads)
        return frozenset(chunk["id"] for record in records for chunk in record["chunks"])


CrashPoint = Callable[[str], None]
"""Called with the name of a place where a crash is most awkward; tests crash there."""

Fence = Callable[[], None]
"""Raises StaleLease once another run has taken the index lease over."""

VectorsOf = Callable[[Collection[str]], Mapping[str, Vector]]
"""Gives the vectors of some texts; may wait until they are encoded."""

TokensOf = Callable[[Collection[str]], Mapping[str, TokenVectors]]
"""Gives the token vectors of some texts, nothing where none are kept; may wait as well."""

ROWS_PER_CHECK = 1000
"""Divides the rows that every store takes at once, so that each of its batches begins with a check."""

ROWS_PER_TOKENS = 200
"""Chunks whose token vectors are read together: 6 MB of them."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedState:
    """What the stores contain at a staged generation."""

    chunks: StoreState
    nodes: StoreState
    edges: StoreState

    def named(self) -> Mapping[str, StoreState]:
        """The states by table."""
        return {"chunks": self.chunks, "nodes": self.nodes, "edges": self.edges}

    @property
    def graph(self) -> tuple[StoreState, StoreState]:
        """The states of nodes and of edges."""
        return self.nodes, self.edges


def apply_plan(
    plan: Plan,
    *,
    generation: int,
    base: int,
    graph: GraphWriter,
    chunks: ChunkWriter,
    vectors_of: VectorsOf,
    dim: int,
    fence: Fence,
    crash_point: CrashPoint,
    tokens_of: TokensOf = lambda _texts: {},
    before: StagedState | None = None,
) -> StagedState:
    """Write nodes, edges, then chunks, and name the generation in both stores.

    Rows of a document go in next to each other.

    *before* is what the stores contain at *base*; without it they are read whole at the end.

    Raises: StaleLease: from *fence*, which is asked before anything is staged, before each batch of rows
    and before a store shows the generation.
    """
    fence()
    gone = _deletes(plan)
    graph.stage(generation, base=base)
    crash_point("graph.before_batch")
    nodes_of = (node for part in plan.parts("nodes") for node in sorted(part.nodes, key=_place_of_node))
    graph.apply_nodes(_told("nodes", nodes_of, gone.node_deletes, fence), gone.node_deletes)
    crash_point("graph.nodes_done")
    edges_of = (edge for part in plan.parts("edges") for edge in sorted(part.edges, key=_place_of_edge))
    graph.apply_edges(_told("edges", edges_of, gone.edge_deletes, fence), gone.edge_deletes)
    crash_point("graph.retired")
    fence()
    nodes, edges = graph.finish(generation, before=before.graph if before else None)
    chunks.stage(generation, base=base)
    crash_point("vector.before_merge")
    rows = (pair for part in plan.parts("chunks") for pair in _with_vectors(part, vectors_of, tokens_of, dim))
    chunks.apply(_told("chunks", rows, gone.chunk_deletes, fence), gone.chunk_deletes)
    crash_point("vector.not_tagged")
    fence()
    held = chunks.finish(generation, before=before.chunks if before else None)
    staged = StagedState(chunks=held, nodes=nodes, edges=edges)
    crash_point("stores.written")
    return staged


# A question reads much of a few documents: what lies together in a file is read six times as fast.
_place_of_node = attrgetter("doc", "id")
_place_of_edge = attrgetter("doc", "src", "id")
_place_of_chunk = attrgetter("doc", "ordinal", "id")


def _told(table: str, upserts: Iterable[T], deletes: Collection[str], fence: Fence) -> Iterator[T]:
    """The rows as they are, counted with those that go."""
    count_rows(table, len(deletes))
    return counted_rows(table, _fenced(upserts, fence))


def _fenced(rows: Iterable[T], fence: Fence) -> Iterator[T]:
    """The rows as they are, with a check before the first, before each further batch, and after the last."""
    for number, row in enumerate(rows):
        if number % ROWS_PER_CHECK == 0:
            fence()
        yield row
    fence()


def _with_vectors(
    part: RowChanges, vectors_of: VectorsOf, tokens_of: TokensOf, dim: int
) -> Iterator[tuple[Chunk, ChunkVectors]]:
    found = vectors_of({text for chunk in part.chunks for text in vector_texts(chunk)})
    for chunks in batched(sorted(part.chunks, key=_place_of_chunk), ROWS_PER_TOKENS):
        tokens = tokens_of({text_input(chunk) for chunk in chunks})
        yield from ((chunk, chunk_vectors(chunk, found, dim, tokens)) for chunk in chunks)


def _deletes(plan: Plan) -> RowChanges:
    """All ids that the plan deletes."""
    parts = list(plan.parts("node_deletes", "edge_deletes", "chunk_deletes"))
    return RowChanges(
        node_deletes=tuple(id_ for part in parts for id_ in part.node_deletes),
        edge_deletes=tuple(id_ for part in parts for id_ in part.edge_deletes),
        chunk_deletes=tuple(id_ for part in parts for id_ in part.chunk_deletes),
    )


SAMPLES_PER_PAYLOAD = 3

_WORD = re.compile(r"(?<!\S)[^\W\d_]{4,12}(?!\S)")
"""Words between spaces: what stands beside punctuation or a combining accent may be cut otherwise there.

Four letters at least, since search leaves out shorter ones in some languages; twelve at most, since full text
drops terms of 40 bytes and more.
"""


def check_counts(staged: StagedState, expected: Counts) -> None:
    """Compare rows per kind with what the plan adds up to.

    Raises: DamageFound: a table contains more or fewer rows of a kind than planned.
    """
    for table, state in staged.named().items():
        held = {kind: number for kind, number in state.counts.items() if number}
        planned = dict(expected.get(table, {}))
        if held != planned:
            raise DamageFound(f"holds {held}, the plan says {planned}", subject=table)


def check_rows(plan: Plan, *, chunks: ChunkReader, graph: GraphReader) -> None:
    """Read sampled rows back and look each sampled chunk up by its own vector and its own words.

    Raises: DamageFound: a row is missing, differs, survived its deletion, or is not found by search.
    """
    first: Chunk | None = None
    for part in plan:
        _check_upserts(part, chunks=chunks, graph=graph)
        _check_deletes(part, chunks=chunks, graph=graph)
        first = first or next(iter(part.chunks), None)
    if first is not None:
        _check_search(first, chunks)


def _check_upserts(part: RowChanges, *, chunks: ChunkReader, graph: GraphReader) -> None:
    nodes = {node.id: node for node in _sample(part.nodes)}
    for node in graph.nodes(nodes.keys()):
        if nodes.pop(node.id) != node:
            raise DamageFound("stored node differs from the plan", subject=node.id)
    rows = {chunk.id: chunk for chunk in _sample(part.chunks)}
    for chunk in chunks.get(rows.keys()):
        if rows.pop(chunk.id) != chunk:
            raise DamageFound("stored chunk differs from the plan", subject=chunk.id)
    edges = {edge.id: edge for edge in _sample(part.edges)}
    for edge in graph.edges_from({edge.src for edge in edges.values()}):
        if edge.id in edges and edges.pop(edge.id) != edge:
            raise DamageFound("stored edge differs from the plan", subject=edge.id)
    for missing in (*nodes, *rows, *edges):
        raise DamageFound("planned row is not in the store", subject=missing)


def _check_deletes(part: RowChanges, *, chunks: ChunkReader, graph: GraphReader) -> None:
    for chunk in chunks.get(_sample(part.chunk_deletes)):
        raise DamageFound("deleted chunk is still there", subject=chunk.id)
    anew = {node.id for node in part.nodes}
    for node in graph.nodes(_sample(tuple(id_ for id_ in part.node_deletes if id_ not in anew))):
        raise DamageFound("deleted node is still there", subject=node.id)


def _check_search(chunk: Chunk, chunks: ChunkReader) -> None:
    vector = chunks.vectors([chunk.id])[chunk.id].text
    hits = chunks.search_vector(SearchField.TEXT, vector, top_k=5)
    if not hits or hits[0].score < 0.999:
        raise DamageFound("not found by its own vector", subject=chunk.id)
    words = own_words(chunk.text)
    if words and not chunks.search_text(SearchField.TEXT, " ".join(words), top_k=5):
        raise DamageFound(f"nothing found by its words {list(words)}", subject=chunk.id)


def own_words(text: str) -> tuple[str, ...]:
    """Choose three words of a text that search can hold, the longest ones; fewer where it has no more."""
    words = sorted(set(_WORD.findall(text)), key=lambda word: (-len(word), word))
    return tuple(words[:3])


def _sample(rows: tuple[T, ...]) -> tuple[T, ...]:
    step = max(1, len(rows) // SAMPLES_PER_PAYLOAD)
    return rows[::step][:SAMPLES_PER_PAYLOAD]
