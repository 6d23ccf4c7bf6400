"""A frozen plan goes into both stores; done twice, it gives the same."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from indexes.embed.texts import chunk_vectors, text_input, vector_texts
from indexes.ports import ChunkVectors, ChunkWriter, GraphWriter, StoreState, TokenVectors, Vector
from indexes.write.outbox import Plan
from schemas.causes import count_rows, counted_rows
from schemas.changes import RowChanges
from schemas.nodes import Chunk

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
    for chunks in _cut(sorted(part.chunks, key=_place_of_chunk), ROWS_PER_TOKENS):
        tokens = tokens_of({text_input(chunk) for chunk in chunks})
        yield from ((chunk, chunk_vectors(chunk, found, dim, tokens)) for chunk in chunks)


def _cut(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _deletes(plan: Plan) -> RowChanges:
    """All ids that the plan deletes."""
    parts = list(plan.parts("node_deletes", "edge_deletes", "chunk_deletes"))
    return RowChanges(
        node_deletes=tuple(id_ for part in parts for id_ in part.node_deletes),
        edge_deletes=tuple(id_ for part in parts for id_ in part.edge_deletes),
        chunk_deletes=tuple(id_ for part in parts for id_ in part.chunk_deletes),
    )
