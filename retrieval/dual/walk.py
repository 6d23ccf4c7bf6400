"""From the entities of a question along sure edges, hop by hop, to what stands around them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from indexes.ports import GraphReader
from retrieval.dual.options import DualOptions
from retrieval.dual.resolve import LinkedEntity
from schemas.edges import FRONT_MATTER_KINDS, Edge, EdgeKind, LinkPosition

KINDS = frozenset(
    {*FRONT_MATTER_KINDS, EdgeKind.RELATED, EdgeKind.MENTIONS, EdgeKind.LINKS_TO, EdgeKind.EXPLAINED_BY}
)
"""What leads from one thing to another; `names` leads to the same thing, and the tree to its parts."""

Ways = Mapping[str, tuple[tuple[Edge, str], ...]]
"""Node > edges at it, each with the node at its other end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedNode:
    """A node on the best path from one entity of the question: fewest hops, then surest, then ids.

    `confidence` is the product of the edges'. A document and the entity of its name are no hop apart.
    """

    node: str
    origin: str
    hop: int
    confidence: float
    path: tuple[Edge, ...]

    @property
    def order(self) -> tuple[int, float, tuple[str, ...], str, str]:
        """Total order, best first."""
        edges = tuple(edge.id for edge in self.path)
        return (self.hop, -round(self.confidence, 6), edges, self.node, self.origin)


class GraphWalk:
    """What was reached so far, each node once from each entity."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, str], ReachedNode] = {}

    def add(self, found: Iterable[ReachedNode], *, limit: int | None = None) -> list[ReachedNode]:
        """Keep the best *limit* of what is new, and give it in order."""
        best: dict[tuple[str, str], ReachedNode] = {}
        for one in sorted(found, key=lambda one: one.order):
            if (one.origin, one.node) not in self._best:
                best.setdefault((one.origin, one.node), one)
        new = list(best.values())[:limit]
        self._best |= {(one.origin, one.node): one for one in new}
        return new

    @property
    def reached(self) -> tuple[ReachedNode, ...]:
        """All that is at least one hop away, best first."""
        away = (one for one in self._best.values() if one.hop)
        return tuple(sorted(away, key=lambda one: one.order))


def walk_from(
    graph: GraphReader, start: Collection[LinkedEntity], *, depth: int, options: DualOptions
) -> tuple[ReachedNode, ...]:
    """Walk *depth* hops from all entities at once, over edges of at least the minimum confidence.

    A hop costs two calls, out and in, and two that pass between documents and their names, for any number
    of nodes. The best `options.front` nodes of a hop are kept and lead on.
    Raises: StoreUnavailable: the graph is gone.
    """
    walk = GraphWalk()
    own = ((one.entity.name, node) for one in start for node in one.nodes)
    front = walk.add(
        ReachedNode(node=node, origin=name, hop=0, confidence=1.0, path=()) for name, node in own
    )
    for hop in range(1, depth + 1):
        names = _ways(graph, front, frozenset({EdgeKind.NAMES}), options.min_confidence)
        front += walk.add(_pass_names(front, names))
        ways = _ways(graph, front, KINDS, options.min_confidence)
        front = walk.add(_go_on(front, ways, hop), limit=options.front)
    return walk.reached


def _ways(
    graph: GraphReader, front: Collection[ReachedNode], kinds: Collection[EdgeKind], least: float
) -> Ways:
    ids = sorted({one.node for one in front})
    edges = {
        edge.id: edge for edge in (*graph.edges_from(ids, kinds=kinds), *graph.edges_to(ids, kinds=kinds))
    }
    ways: dict[str, list[tuple[Edge, str]]] = {}
    for edge in edges.values():
        if edge.confidence >= least and _says_something(edge) and edge.src != edge.dst:
            ways.setdefault(edge.src, []).append((edge, edge.dst))
            ways.setdefault(edge.dst, []).append((edge, edge.src))
    return {node: tuple(found) for node, found in ways.items()}


def _says_something(edge: Edge) -> bool:
    """Links of a menu stand on every page and join everything with everything."""
    return edge.kind is not EdgeKind.LINKS_TO or edge.position in {LinkPosition.BODY, None}


def _pass_names(front: Iterable[ReachedNode], ways: Ways) -> Iterator[ReachedNode]:
    return (replace(one, node=end) for one in front for _, end in ways.get(one.node, ()))


def _go_on(front: Iterable[ReachedNode], ways: Ways, hop: int) -> Iterator[ReachedNode]:
    for one in front:
        for edge, end in ways.get(one.node, ()):
            yield ReachedNode(
                node=end,
                origin=one.origin,
                hop=hop,
                confidence=one.confidence * edge.confidence,
                path=(*one.path, edge),
            )
