"""What stands around the best seeds, and around one node, hop by hop."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, zip_longest

from indexes.ports import GraphReader
from retrieval.search.seeds import run_in_parallel
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.nodes import Chunk, Node, PdfRegion, Section

SEEDS = 30
"""Seeds that are looked around; the rest of the pool only competes."""
NODES_MAX = 1200
"""Parts and chunks below the sections of the seeds and their parents, beyond which only the own are read."""
_TREE = frozenset({EdgeKind.CONTAINS, EdgeKind.PARENT_OF})
_INTO = frozenset({*_TREE, EdgeKind.EXPLAINED_BY})
_ACROSS = frozenset({EdgeKind.EXPLAINED_BY, EdgeKind.LINKS_TO, EdgeKind.SIMILAR_TO})


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Seeds, best first, and what the graph contains around them.

    `above` are the tree edges into the parents' children of the seeds' sections (or PDF regions) by child,
    `below` those out of sections, regions and their parents by parent. `leaving` are the other edges from
    seeds, their documents and their tools, by source. `parts` are the sections and regions seen.
    `dense` says that there was too much, so that only the seeds' own sections were read.
    """

    seeds: tuple[Chunk, ...]
    above: Mapping[str, Edge] = field(default_factory=dict)
    below: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    leaving: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    explained: tuple[Edge, ...] = ()
    parts: Mapping[str, Section | PdfRegion] = field(default_factory=dict)
    dense: bool = False

    def chunks_of(self, part: str) -> tuple[str, ...]:
        """Chunks right below a section or region."""
        return tuple(edge.dst for edge in self.below.get(part, ()) if edge.dst.startswith("chunk:"))

    def parts_of(self, parent: str) -> tuple[Section | PdfRegion, ...]:
        """Sections or regions right below a node, in reading order."""
        found = (self.parts.get(edge.dst) for edge in self.below.get(parent, ()))
        return tuple(
            sorted({part.id: part for part in found if part}.values(), key=lambda p: (p.ordinal, p.id))
        )


def enclosing_part(chunk: Chunk) -> str | None:
    """Return the section or region a chunk was cut from."""
    return chunk.section_id or chunk.region_id


def look_around(graph: GraphReader, seeds: Iterable[Chunk]) -> Surroundings:
    """Read parents, what hangs below those, links and similar chunks, then what the parts are.

    Only what hangs below counts as too much: a document may have a thousand links or pages, of which rules
    take those that fit the question.
    """
    best = tuple(seeds)[:SEEDS]
    own = sorted({part for chunk in best if (part := enclosing_part(chunk))})
    into = graph.edges_to([*own, *(chunk.id for chunk in best)], kinds=_INTO)
    explained = tuple(edge for edge in into if edge.kind is EdgeKind.EXPLAINED_BY)
    above = _parents(into, own)
    parents = sorted({edge.src for edge in above.values()})
    ends = {chunk.doc for chunk in best} | {chunk.id for chunk in best} | {edge.src for edge in explained}
    hanging, leaving = run_in_parallel(
        [
            partial(graph.edges_from, sorted({*own, *parents}), kinds=_TREE),
            partial(graph.edges_from, sorted(ends), kinds=_ACROSS),
        ]
    )
    tree = list(hanging)
    dense = len({edge.dst for edge in tree}) > NODES_MAX
    if dense:
        tree = [edge for edge in tree if edge.src in own]
    parts = _parts(graph, {edge.dst for edge in tree} | set(own) | set(parents))
    missing = sorted(parts.keys() - {edge.src for edge in tree})
    tree += graph.edges_from(missing, kinds={EdgeKind.CONTAINS}) if missing and not dense else ()
    return Surroundings(
        seeds=best,
        above={} if dense else above,
        below=_by_source(tree),
        leaving=_by_source(leaving),
        explained=explained,
        parts=parts,
        dense=dense,
    )


def _parents(into: Collection[Edge], own: Collection[str]) -> dict[str, Edge]:
    """The edge from the nearest parent: a section's parent section, else its page."""
    nearest_first = sorted(into, key=lambda edge: (edge.dst, edge.kind is not EdgeKind.PARENT_OF, edge.id))
    above: dict[str, Edge] = {}
    for edge in nearest_first:
        if edge.dst in own and edge.kind in _TREE:
            above.setdefault(edge.dst, edge)
    return above


def _parts(graph: GraphReader, ids: Collection[str]) -> dict[str, Section | PdfRegion]:
    wanted = sorted(one for one in ids if one.startswith(("section:", "pdfregion:")))[:NODES_MAX]
    return {node.id: node for node in graph.nodes(wanted) if isinstance(node, Section | PdfRegion)}


def _by_source(edges: Iterable[Edge]) -> dict[str, tuple[Edge, ...]]:
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.src, []).append(edge)
    return {src: tuple(found[src]) for src in sorted(found)}


def edges_at(
    graph: GraphReader, nodes: Collection[str], *, kinds: Collection[EdgeKind] | None = None
) -> tuple[Edge, ...]:
    """Return the edges out of *nodes* and into them, each once, in two calls."""
    edges = (*graph.edges_from(nodes, kinds=kinds), *graph.edges_to(nodes, kinds=kinds))
    return tuple({edge.id: edge for edge in edges}.values())


def chunk_behind(edge: Edge) -> str | None:
    """Return the chunk that an edge was read from, or ends at; None where a whole document states it."""
    return edge.chunk or next((end for end in (edge.src, edge.dst) if end.startswith("chunk:")), None)


def says_something(edge: Edge) -> bool:
    """Whether an edge is no link of a menu: those stand on every page and join everything with everything."""
    return edge.position in {LinkPosition.BODY, None}


@dataclass(frozen=True, slots=True, kw_only=True)
class OmittedNodes:
    """How many nodes an edge of *kind* led to at *hop* that the limit had no place for."""

    hop: int
    kind: EdgeKind
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """Nodes with their distance from the start, in the order they were met; edges by (src, kind, dst, id).

    An edge is here if the walk came along it and both its ends are: so not between two nodes of the last hop.
    What stands behind nodes that were left out is not counted.
    """

    nodes: tuple[Node, ...]
    hops: Mapping[str, int]
    edges: tuple[Edge, ...]
    left_out: tuple[OmittedNodes, ...]


OrderEnds = Callable[[Collection[Edge], Collection[str]], Iterable[tuple[str, EdgeKind]]]
"""Edges and known nodes to the new nodes at their ends, each with the kind of edge that led there."""


def one_of_each_kind(edges: Iterable[Edge], known: Collection[str]) -> Iterator[tuple[str, EdgeKind]]:
    """Yield ends of *edges* that are not *known*, of each kind in turn: links do not crowd out the section.

    Within a kind the surest edge comes first, then the smaller id.
    """
    seen = set(known)
    queues: dict[EdgeKind, list[tuple[str, EdgeKind]]] = {}
    for kind, _, end in sorted(_ends(edges)):
        if end not in seen:
            seen.add(end)
            queues.setdefault(kind, []).append((end, kind))
    return (one for one in chain.from_iterable(zip_longest(*queues.values())) if one is not None)


def _ends(edges: Iterable[Edge]) -> Iterator[tuple[EdgeKind, float, str]]:
    for edge in edges:
        for end in (edge.src, edge.dst):
            yield edge.kind, -round(edge.confidence, 6), end


def walk_neighbourhood(
    graph: GraphReader,
    start: Collection[str],
    *,
    hops: int,
    limit: int,
    kinds: Collection[EdgeKind] | None = None,
    keep: Callable[[Edge], bool] = lambda _: True,
    order: OrderEnds = one_of_each_kind,
) -> Neighbourhood:
    """Walk from *start*, which is kept whole, to at most *limit* nodes; ids that are no node are passed over.

    Asks the graph for the edges of a whole hop at once, in either direction, and for all nodes at the end.

    Args: keep: which edges lead on. order: the new ends of a hop's edges; the first have a place.
    """
    distance = dict.fromkeys(sorted(set(start)), 0)
    seen = set(distance)
    met: dict[str, Edge] = {}
    left: list[OmittedNodes] = []
    for hop in range(1, hops + 1):
        front = [node for node, at in distance.items() if at == hop - 1]
        if not front:
            break
        edges = tuple(edge for edge in edges_at(graph, front, kinds=kinds) if keep(edge))
        met.update((edge.id, edge) for edge in edges)
        reached = tuple(order(edges, seen))
        seen.update(node for node, _ in reached)
        room = max(0, limit - len(distance))
        distance.update((node, hop) for node, _ in reached[:room])
        left += _count(hop, reached[room:])
    return _gather(graph, distance, met.values(), left)


def _gather(
    graph: GraphReader, distance: Mapping[str, int], met: Iterable[Edge], left: Iterable[OmittedNodes]
) -> Neighbourhood:
    found = {node.id: node for node in graph.nodes(distance)} if distance else {}
    edges = (edge for edge in met if edge.src in found and edge.dst in found)
    return Neighbourhood(
        nodes=tuple(found[key] for key in distance if key in found),
        hops={key: hop for key, hop in distance.items() if key in found},
        edges=tuple(sorted(edges, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id))),
        left_out=tuple(left),
    )


def _count(hop: int, beyond: Iterable[tuple[str, EdgeKind]]) -> list[OmittedNodes]:
    counts = Counter(kind for _, kind in beyond)
    return [OmittedNodes(hop=hop, kind=kind, nodes=counts[kind]) for kind in sorted(counts)]
