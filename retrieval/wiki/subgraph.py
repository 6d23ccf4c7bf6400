"""The part of the graph around some seeds, its statements, and the best chain through it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from indexes.ports import GraphReader
from retrieval.graph.surroundings import chunk_behind, says_something, walk_neighbourhood
from retrieval.wiki.page import Fact
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Chunk, ChunkNode, Entity, Node, Page, PdfDoc, PdfPage, PdfRegion, Section, kind_of
from schemas.records import Record

DEPTH_MAX = 2
NODES_MAX = 50
MIN_CONFIDENCE = 0.6
NAME_MAX = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """Nodes in id order with their distance from the seeds, and edges between them by (src, kind, dst, id).

    Everything in it was read from the graph; the seeds are in it, with edges or without.
    """

    seeds: tuple[str, ...] = ()
    hops: Mapping[str, int]
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()


EMPTY = Subgraph(hops={})


def read_subgraph(graph: GraphReader, seeds: Collection[str]) -> Subgraph:
    """Walk at most two hops from *seeds*, both ways, along edges of a confidence of at least .6.

    At most 50 nodes are kept: the seeds, which are never dropped, then those one hop away, then two; of
    each the surest first, by (-confidence of the best edge to it, id). One call a hop in either direction,
    and two for nodes; where the first hop leaves no place, the second still gives edges between its nodes.
    """
    starts = graph.nodes(seeds) if seeds else ()
    around = walk_neighbourhood(
        graph,
        [node.id for node in starts],
        hops=DEPTH_MAX,
        limit=NODES_MAX,
        keep=lambda edge: edge.confidence >= MIN_CONFIDENCE and says_something(edge),
        order=_surest,
    )
    return Subgraph(
        seeds=tuple(node.id for node in starts),
        hops=around.hops,
        nodes=tuple(sorted(around.nodes, key=lambda node: node.id)),
        edges=around.edges,
    )


def _surest(edges: Iterable[Edge], known: Collection[str]) -> list[tuple[str, EdgeKind]]:
    best: dict[str, Edge] = {}
    for edge in sorted(edges, key=lambda edge: -round(edge.confidence, 6)):
        for end in {edge.src, edge.dst}.difference(known):
            best.setdefault(end, edge)
    ranked = sorted(best.items(), key=lambda one: (-round(one[1].confidence, 6), one[0]))
    return [(node, edge.kind) for node, edge in ranked]


def relation_of(edge: Edge) -> str:
    """What an edge says: its predicate, or its kind where it has none."""
    return edge.predicate or edge.kind.value


def node_label(node: Node, chunk: Chunk | None = None) -> str:
    """What people call a node; a passage by how its text begins where that is known, else by its headings."""
    match node:
        case Page() | PdfDoc():
            name = node.title
        case Section():
            name = node.heading
        case PdfPage():
            name = f"page {node.page_label or node.page_no}"
        case PdfRegion():
            name = node.text
        case ChunkNode():
            name = chunk.text if chunk else " > ".join(node.heading_path)
        case _:
            name = node.name
    line = " ".join(name.split())
    return (line if len(line) <= NAME_MAX else f"{line[: NAME_MAX - 1]}…") or node.id


def to_subgraph_record(graph: Subgraph, texts: Mapping[str, Chunk]) -> Record:
    """Return `{"nodes": {id: {...}}, "edges": [...]}` as programs read it.

    Args: texts: chunks by id, for the names of passages.
    """
    sources = _sources(graph.edges)
    own = {node.id for node in graph.nodes if isinstance(node, ChunkNode)}
    return {
        "nodes": {
            node.id: {
                "name": node_label(node, texts.get(node.id)),
                "type": kind_of(node).value,
                "source_document": _document_of(node, graph.edges),
                "source_chunks": sorted(sources.get(node.id, set()) | own.intersection({node.id})),
            }
            for node in graph.nodes
        },
        "edges": [to_edge_record(edge) for edge in graph.edges],
    }


def to_edge_record(edge: Edge) -> Record:
    """Return an edge as programs read it."""
    return {
        "source": edge.src,
        "target": edge.dst,
        "type": relation_of(edge),
        "confidence": edge.confidence,
        "source_document": edge.doc,
        "supporting_text": edge.text or edge.anchor_text,
        "chunk_id": chunk_behind(edge),
    }


def _sources(edges: Iterable[Edge]) -> dict[str, set[str]]:
    sources: dict[str, set[str]] = {}
    for edge in edges:
        for end in (edge.src, edge.dst):
            if chunk := chunk_behind(edge):
                sources.setdefault(end, set()).add(chunk)
    return sources


def _document_of(node: Node, edges: Collection[Edge]) -> str:
    """An entity is nobody's: its document here is the one of the surest edge at it, where there is one."""
    if not isinstance(node, Entity):
        return node.doc
    at = [edge for edge in edges if node.id in (edge.src, edge.dst) and edge.doc != node.id]
    return min(at, key=lambda edge: (-edge.confidence, edge.id)).doc if at else node.doc


NO_PATH = "No path joins two things of the question."
_MILLION = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Nodes from end to end, and the edge between each two, whichever way it points."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    def render(self, names: Mapping[str, str]) -> str:
        """Write `a --[predicate]--> b`, or `a <--[predicate]-- b` where the edge points back."""
        parts = [names.get(self.nodes[0], self.nodes[0])]
        for start, end, edge in zip(self.nodes, self.nodes[1:], self.edges, strict=False):
            relation = relation_of(edge)
            parts.append(f"--[{relation}]-->" if edge.src == start else f"<--[{relation}]--")
            parts.append(names.get(end, end))
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class _Way:
    confidence: Fraction
    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    @property
    def rank(self) -> tuple[Fraction, tuple[str, ...], tuple[str, ...]]:
        return (-self.confidence, self.nodes, tuple(edge.id for edge in self.edges))


def best_chain(seeds: Collection[str], edges: Collection[Edge], *, things: Mapping[str, str]) -> Chain | None:
    """Return the best path between two of *seeds* along *edges*; None where none joins any two.

    Fewest hops, then the greatest product of confidences, then the smallest ids. Products are exact, so
    that equal paths are equal and the order of multiplying decides nothing.

    Args: things: what each seed is or belongs to; no path is sought inside of one thing.
    """
    starts, beside = sorted(set(seeds)), _beside(edges)
    ways: list[_Way] = []
    for start in starts:
        goals = {goal for goal in starts if goal > start and things[goal] != things[start]}
        ways += _ways_from(start, beside, goals)
    if not ways:
        return None
    best = min(ways, key=lambda way: (len(way.edges), *way.rank))
    return Chain(nodes=best.nodes, edges=best.edges)


def _beside(edges: Iterable[Edge]) -> dict[str, list[tuple[str, Edge]]]:
    beside: dict[str, list[tuple[str, Edge]]] = {}
    for edge in edges:
        if edge.src != edge.dst:
            beside.setdefault(edge.src, []).append((edge.dst, edge))
            beside.setdefault(edge.dst, []).append((edge.src, edge))
    return beside


def _ways_from(
    start: str, beside: Mapping[str, list[tuple[str, Edge]]], goals: Collection[str]
) -> list[_Way]:
    """Return the best way of fewest hops to the goals that are nearest; all such goals are equally far."""
    front, seen = {start: _Way(Fraction(1), (start,), ())}, {start}
    while front:
        following: dict[str, _Way] = {}
        for node, way in front.items():
            for end, edge in beside.get(node, ()):
                if end in seen:
                    continue
                sure = Fraction(round(edge.confidence * _MILLION), _MILLION)
                longer = _Way(way.confidence * sure, (*way.nodes, end), (*way.edges, edge))
                if end not in following or longer.rank < following[end].rank:
                    following[end] = longer
        if reached := [following[goal] for goal in sorted(goals) if goal in following]:
            return reached
        seen.update(following)
        front = following
    return []


def facts_of(edges: Collection[Edge], names: Mapping[str, str]) -> tuple[Fact, ...]:
    """Return what edges with a predicate state, those that a passage says, in the order of the edges.

    Args: names: what the nodes are called, by id.
    """
    return tuple(
        Fact(
            subject=names.get(edge.src, edge.src),
            predicate=edge.predicate,
            object=names.get(edge.dst, edge.dst),
            subject_id=edge.src,
            object_id=edge.dst,
            chunk=chunk,
        )
        for edge in edges
        if edge.predicate and (chunk := chunk_behind(edge))
    )
