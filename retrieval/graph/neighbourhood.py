"""What stands around a node: a walk along edges of any kind, both ways, hop by hop."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest

from indexes.ports import GraphReader
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Node


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


def walk_neighbourhood(
    graph: GraphReader,
    start: Collection[str],
    *,
    hops: int,
    limit: int,
    kinds: Collection[EdgeKind] | None = None,
) -> Neighbourhood:
    """Walk from *start*, which is kept whole, to at most *limit* nodes; ids that are no node are passed over.

    Asks the graph for the edges of a whole hop at once, in either direction, and for all nodes at the end.
    """
    distance = dict.fromkeys(sorted(set(start)), 0)
    seen = set(distance)
    met: dict[str, Edge] = {}
    left: list[OmittedNodes] = []
    for hop in range(1, hops + 1):
        front = [node for node, at in distance.items() if at == hop - 1]
        if not front:
            break
        edges = (*graph.edges_from(front, kinds=kinds), *graph.edges_to(front, kinds=kinds))
        met.update((edge.id, edge) for edge in edges)
        reached = tuple(_in_turn(edges, known=seen))
        seen.update(node for node, _ in reached)
        room = max(0, limit - len(distance))
        distance.update((node, hop) for node, _ in reached[:room])
        left += _count(hop, reached[room:])
    return _gather(graph, distance, met.values(), left)


def _gather(
    graph: GraphReader, distance: Mapping[str, int], met: Iterable[Edge], left: Iterable[OmittedNodes]
) -> Neighbourhood:
    found = {node.id: node for node in graph.nodes(distance)}
    edges = (edge for edge in met if edge.src in found and edge.dst in found)
    return Neighbourhood(
        nodes=tuple(found[key] for key in distance if key in found),
        hops={key: hop for key, hop in distance.items() if key in found},
        edges=tuple(sorted(edges, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id))),
        left_out=tuple(left),
    )


def _in_turn(edges: Iterable[Edge], *, known: Collection[str]) -> Iterator[tuple[str, EdgeKind]]:
    """New ends of *edges*, one of each kind in turn: a hundred links do not crowd out the one section.

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


def _count(hop: int, beyond: Iterable[tuple[str, EdgeKind]]) -> list[OmittedNodes]:
    counts = Counter(kind for _, kind in beyond)
    return [OmittedNodes(hop=hop, kind=kind, nodes=counts[kind]) for kind in sorted(counts)]
