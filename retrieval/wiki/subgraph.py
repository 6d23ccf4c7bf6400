"""The part of the graph around some seeds: breadth first, sure edges only, pruned to fifty nodes."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from indexes.ports import GraphReader
from schemas.edges import Edge, LinkPosition
from schemas.nodes import Chunk, ChunkNode, Entity, Node, Page, PdfDoc, PdfPage, PdfRegion, Section, kind_of
from schemas.records import Record

DEPTH_MAX = 2
NODES_MAX = 50
MIN_CONFIDENCE = 0.6
NAME_MAX = 80

_BESIDE = frozenset({LinkPosition.NAV, LinkPosition.HEADER, LinkPosition.ASIDE, LinkPosition.FOOTER})
"""Links that stand on every page join all pages, and say nothing of any two (reference 17)."""


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


def expand_seeds(
    graph: GraphReader, seeds: Collection[str], *, min_confidence: float = MIN_CONFIDENCE
) -> Subgraph:
    """Walk at most two hops from *seeds*, both ways, along edges of at least *min_confidence*.

    At most 50 nodes are kept: the seeds, which are never dropped, then those one hop away, then two; of
    each the surest first, by (-confidence of the best edge to it, id). One call a hop in either direction,
    and two for nodes; where the first hop leaves no place, the second still gives edges between its nodes.
    """
    starts = graph.nodes(seeds) if seeds else ()
    hops = {node.id: 0 for node in starts}
    met: dict[str, Edge] = {}
    for hop in range(1, DEPTH_MAX + 1):
        front = [node for node, at in hops.items() if at == hop - 1]
        if not front:
            break
        edges = [
            edge
            for edge in (*graph.edges_from(front), *graph.edges_to(front))
            if edge.confidence >= min_confidence and edge.position not in _BESIDE
        ]
        met.update((edge.id, edge) for edge in edges)
        room = max(0, NODES_MAX - len(hops))
        hops.update((node, hop) for node in _surest(edges, known=hops)[:room])
    return _gather(graph, starts, hops, met.values())


def _surest(edges: Iterable[Edge], *, known: Collection[str]) -> list[str]:
    best: dict[str, float] = {}
    for edge in edges:
        for end in (edge.src, edge.dst):
            if end not in known:
                best[end] = max(best.get(end, 0.0), edge.confidence)
    return sorted(best, key=lambda node: (-round(best[node], 6), node))


def _gather(
    graph: GraphReader, starts: Collection[Node], hops: Mapping[str, int], met: Iterable[Edge]
) -> Subgraph:
    reached = [node for node, hop in hops.items() if hop]
    nodes = sorted((*starts, *(graph.nodes(reached) if reached else ())), key=lambda node: node.id)
    there = {node.id for node in nodes}
    edges = [edge for edge in met if edge.src in there and edge.dst in there]
    return Subgraph(
        seeds=tuple(node.id for node in starts),
        hops={node: hop for node, hop in hops.items() if node in there},
        nodes=tuple(nodes),
        edges=tuple(sorted(edges, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id))),
    )


def relation_of(edge: Edge) -> str:
    """What an edge says: its predicate, or its kind where it has none."""
    return edge.predicate or edge.kind.value


def chunk_of(edge: Edge) -> str | None:
    """The chunk that an edge was read from, or that it ends at; None where a whole document states it."""
    ends = (edge.src, edge.dst)
    return edge.chunk or next((end for end in ends if end.startswith("chunk:")), None)


def words_of(edge: Edge) -> str | None:
    """The words that state an edge: of the passage, or of the link; structure and front matter have none."""
    return edge.text or edge.anchor_text


def name_of(node: Node, chunk: Chunk | None = None) -> str:
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
    return {
        "nodes": {
            node.id: {
                "name": name_of(node, texts.get(node.id)),
                "type": kind_of(node).value,
                "source_document": _document_of(node, graph.edges),
                "source_chunks": sorted(sources.get(node.id, set()) | _own(node)),
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
        "supporting_text": words_of(edge),
        "chunk_id": chunk_of(edge),
    }


def _sources(edges: Iterable[Edge]) -> dict[str, set[str]]:
    sources: dict[str, set[str]] = {}
    for edge, chunk in _supported(edges):
        for end in (edge.src, edge.dst):
            sources.setdefault(end, set()).add(chunk)
    return sources


def _supported(edges: Iterable[Edge]) -> Iterator[tuple[Edge, str]]:
    return ((edge, chunk) for edge in edges if (chunk := chunk_of(edge)))


def _own(node: Node) -> set[str]:
    return {node.id} if isinstance(node, ChunkNode) else set()


def _document_of(node: Node, edges: Collection[Edge]) -> str:
    """An entity is nobody's: its document here is the one of the surest edge at it, where there is one."""
    if not isinstance(node, Entity):
        return node.doc
    at = [edge for edge in edges if node.id in (edge.src, edge.dst) and edge.doc != node.id]
    return min(at, key=lambda edge: (-edge.confidence, edge.id)).doc if at else node.doc
