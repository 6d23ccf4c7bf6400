"""What the graph says around the entities of a question: one readable text for each thing it reaches."""

from collections.abc import Collection
from dataclasses import dataclass

from indexes.ports import ChunkReader, GraphReader
from retrieval.dual.options import DualOptions
from retrieval.dual.supporting_chunks import SupportingChunks, read_supporting_chunks, support_of
from retrieval.dual.things import Things, read_things
from retrieval.dual.walk import ReachedNode
from retrieval.dual.wording import say_edge
from retrieval.question.title_words import stems
from retrieval.question.words import fold
from schemas.edges import EdgeKind
from schemas.evidence import PathStep, Query
from schemas.nodes import Chunk

PATHS_MAX = 3
"""Ways to one thing that are written out; there are at most three entities to come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphContext:
    """A thing that the graph leads to: what joins it to the question, and the chunk behind the last edge.

    `names` are all it is called. `score` is in [0, 1]. `origins` counts the entities of the question that
    lead there.
    """

    entity: str
    names: tuple[str, ...]
    text: str
    hop: int
    confidence: float
    score: float
    chunk: Chunk
    path: tuple[PathStep, ...]
    origins: int


def build_contexts(
    chunks: ChunkReader,
    graph: GraphReader,
    reached: Collection[ReachedNode],
    query: Query,
    options: DualOptions,
) -> tuple[GraphContext, ...]:
    """Write out what was reached, best first; a way with a chunk that the filters keep out is none.

    Of equal scores, what more of the question's entities lead to comes first, then what shares more of its
    words. Three calls to the graph and three to the chunk store, for any number of things.
    Raises: StoreUnavailable: a store is gone.
    """
    edges = {edge.id: edge for one in reached for edge in one.path}
    ends = {end for edge in edges.values() for end in (edge.src, edge.dst)}
    things = read_things(graph, ends | {one.node for one in reached})
    supporting = read_supporting_chunks(chunks, tuple(edges.values()), query)
    homes = _homes(graph, {one.node for one in reached}, things)
    grouped: dict[str, list[ReachedNode]] = {}
    for way in sorted(reached, key=lambda way: way.order):
        if name := fold(things.called(way.node)):
            grouped.setdefault(homes.get(way.node, name), []).append(way)
    found = [one for ways in grouped.values() if (one := _context(ways, things, supporting, options))]
    asked = stems(query.text)
    return tuple(
        sorted(
            found,
            key=lambda one: (-round(one.score, 6), -one.origins, -len(asked & stems(one.text)), one.entity),
        )
    )


def _homes(graph: GraphReader, places: Collection[str], things: Things) -> dict[str, str]:
    """Return the document that an entity with homonyms is the name of, where both are among *places*.

    The document is its own; whatever else is called alike is one thing by its name.
    """
    apart = [id_ for id_ in sorted(places) if things.is_told_apart(id_)]
    edges = graph.edges_from(apart, kinds={EdgeKind.NAMES}) if apart else ()
    homes: dict[str, str] = {}
    for edge in edges:
        if edge.dst in places:
            homes.setdefault(edge.src, edge.dst)
    return homes | {home: home for home in homes.values()}


def _context(
    ways: Collection[ReachedNode], things: Things, supporting: SupportingChunks, options: DualOptions
) -> GraphContext | None:
    shown = [one for one in ways if all(supporting.behind(edge) for edge in one.path)]
    best = max(shown, key=lambda one: round(_score(one, options), 6), default=None)
    chunk = supporting.behind(best.path[-1]) if best else None
    if best is None or chunk is None:
        return None
    return GraphContext(
        entity=things.called(best.node),
        names=tuple(dict.fromkeys(name for one in shown for name in things.names(one.node))),
        text=_write(shown, things, supporting),
        hop=best.hop,
        confidence=round(best.confidence, 6),
        score=round(_score(best, options), 6),
        chunk=chunk,
        path=tuple(
            PathStep(
                src=edge.src,
                kind=edge.kind.value,
                dst=edge.dst,
                chunk=support_of(edge),
                src_name=things.called(edge.src) or None,
                dst_name=things.called(edge.dst) or None,
            )
            for edge in best.path
        ),
        origins=len({one.origin for one in shown}),
    )


def _score(one: ReachedNode, options: DualOptions) -> float:
    return options.weight * one.confidence * options.decay ** (one.hop - 1)


def _write(ways: Collection[ReachedNode], things: Things, supporting: SupportingChunks) -> str:
    """One line for each edge of the best way from each entity."""
    by_origin: dict[str, ReachedNode] = {}
    for one in ways:
        by_origin.setdefault(one.origin, one)
    edges = [edge for one in list(by_origin.values())[:PATHS_MAX] for edge in one.path]
    names = {end: things.called(end) or end for edge in edges for end in (edge.src, edge.dst)}
    return "\n".join(dict.fromkeys(say_edge(edge, names, supporting.texts()) for edge in edges))
