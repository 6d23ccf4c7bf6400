"""What the graph says around the entities of a question: one readable text for each thing it reaches."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from indexes.ports import ChunkReader, GraphReader
from indexes.store_checks import passes
from retrieval.dual.walk import ReachedNode, Things, read_things
from retrieval.graph.surroundings import chunk_behind
from retrieval.question.words import cut_sentences, fold, stems
from retrieval.relations.wording import EDGE_VERBS, cut_quote
from schemas.edges import Edge, EdgeKind
from schemas.evidence import Filter, PathStep, Query, SearchField
from schemas.nodes import Chunk


def say_edge(edge: Edge, names: Mapping[str, str], texts: Mapping[str, str]) -> str:
    """Return `Session API depends on Redis: "The Session API keeps its sessions in Redis."`.

    The quotation is the sentence that the edge was read from, where it was read from text.

    Args: names: what to call each node. texts: of chunks by id.
    """
    verb = edge.predicate or EDGE_VERBS[edge.kind][0]
    said = f"{names[edge.src]} {verb} {names[edge.dst]}"
    quoted = _quote(edge, texts.get(edge.chunk or edge.src, ""))
    return f'{said}: "{quoted}"' if quoted else f"{said}."


def _quote(edge: Edge, text: str) -> str:
    """Return the first sentence of the chunk that has the edge's words; its first words if it is long."""
    words = " ".join((edge.text or edge.anchor_text or "").split())
    if not words:
        return ""
    sentence = next((one for one in cut_sentences(text) if words in one), words)
    return cut_quote(sentence)


_LOOK_UP = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportingChunks:
    """Chunks by id, and one for each document whose edges were not read from text; all pass the filters."""

    by_id: Mapping[str, Chunk]
    of_doc: Mapping[str, Chunk]

    def behind(self, edge: Edge) -> Chunk | None:
        """Return the chunk that shows an edge; None where the filters keep it out."""
        read_in = chunk_behind(edge)
        return self.by_id.get(read_in) if read_in else self.of_doc.get(edge.doc)

    def texts(self) -> Mapping[str, str]:
        """Texts by id."""
        return {id_: chunk.text for id_, chunk in self.by_id.items()}


def read_supporting_chunks(chunks: ChunkReader, edges: Collection[Edge], query: Query) -> SupportingChunks:
    """Read what stands behind *edges*, in at most three calls.

    Of a document whose front matter or links say so, it is the chunk that shares most words with the
    question, else its first. Raises: StoreUnavailable: the store is gone.
    """
    read_in = sorted({id_ for edge in edges if (id_ := chunk_behind(edge))})
    docs = sorted({edge.doc for edge in edges if chunk_behind(edge) is None})
    of_doc = _nearest(chunks, docs, query)
    for chunk in chunks.of_documents([doc for doc in docs if doc not in of_doc]):
        if passes(chunk, query.conditions):
            of_doc.setdefault(chunk.doc, chunk)
    found = (chunk for chunk in chunks.get(read_in) if passes(chunk, query.conditions))
    return SupportingChunks(by_id={chunk.id: chunk for chunk in found}, of_doc=of_doc)


def _nearest(chunks: ChunkReader, docs: list[str], query: Query) -> dict[str, Chunk]:
    if not docs:
        return {}
    only = (*query.conditions, Filter(field="doc", values=tuple(docs)))
    best: dict[str, str] = {}
    for hit in chunks.search_text(SearchField.TEXT, query.text, top_k=_LOOK_UP, filters=only):
        best.setdefault(hit.doc, hit.chunk_id)
    return {chunk.doc: chunk for chunk in chunks.get(sorted(best.values()))}


WEIGHT, DECAY = 0.9, 0.85
"""A score is `WEIGHT * confidence * DECAY^(hop-1)`; one for all would not tell an unsure or far edge."""
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
    chunks: ChunkReader, graph: GraphReader, reached: Collection[ReachedNode], query: Query
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
    found = [one for ways in grouped.values() if (one := _context(ways, things, supporting))]
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
    ways: Collection[ReachedNode], things: Things, supporting: SupportingChunks
) -> GraphContext | None:
    shown = [one for one in ways if all(supporting.behind(edge) for edge in one.path)]
    best = max(shown, key=lambda one: round(_score(one), 6), default=None)
    chunk = supporting.behind(best.path[-1]) if best else None
    if best is None or chunk is None:
        return None
    return GraphContext(
        entity=things.called(best.node),
        names=tuple(dict.fromkeys(name for one in shown for name in things.names(one.node))),
        text=_write(shown, things, supporting),
        hop=best.hop,
        confidence=round(best.confidence, 6),
        score=round(_score(best), 6),
        chunk=chunk,
        path=tuple(
            PathStep(
                src=edge.src,
                kind=edge.kind.value,
                dst=edge.dst,
                chunk=chunk_behind(edge),
                src_name=things.called(edge.src) or None,
                dst_name=things.called(edge.dst) or None,
            )
            for edge in best.path
        ),
        origins=len({one.origin for one in shown}),
    )


def _score(one: ReachedNode) -> float:
    return WEIGHT * one.confidence * DECAY ** (one.hop - 1)


def _write(ways: Collection[ReachedNode], things: Things, supporting: SupportingChunks) -> str:
    """One line for each edge of the best way from each entity."""
    by_origin: dict[str, ReachedNode] = {}
    for one in ways:
        by_origin.setdefault(one.origin, one)
    edges = [edge for one in list(by_origin.values())[:PATHS_MAX] for edge in one.path]
    names = {end: things.called(end) or end for edge in edges for end in (edge.src, edge.dst)}
    return "\n".join(dict.fromkeys(say_edge(edge, names, supporting.texts()) for edge in edges))
