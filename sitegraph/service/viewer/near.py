"""What stands around a node, as a picture and as a list."""

from collections.abc import Iterator
from dataclasses import dataclass

from indexes.wiring import Readers
from retrieval.node_ids import resolve_node_id
from schemas.edges import Edge, EdgeKind
from schemas.errors import ConfigError
from schemas.nodes import NodeKind
from sitegraph.graph_view.shown import ShownGraph, ShownNode, show_around
from sitegraph.service.problems import HttpProblem

NODES_MAX = 24
HOPS = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenEdge:
    """An edge as it is seen from the node in the middle of a page: to whom it leads, or from whom it comes.

    `leaving` is None for an edge between two others, which `beside` is the beginning of.
    """

    kind: EdgeKind
    node: ShownNode
    leaving: bool | None
    beside: ShownNode | None
    words: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A neighbourhood of one node; `kinds` are those of its edges, whichever are followed."""

    start: ShownNode
    graph: ShownGraph
    steps: tuple[SeenEdge, ...]
    kinds: tuple[EdgeKind, ...]
    left_out: int


def open_near(readers: Readers, node_id: str, *, hops: int, kind: EdgeKind | None) -> Near:
    """Return what stands around a node, at most `NODES_MAX` of it.

    Raises: HttpProblem: no such node, or the graph is not there.
    """
    if readers.graph is None:
        raise HttpProblem(503, "the graph of this index is not available now; try again later", "NoGraph")
    try:
        start = resolve_node_id(readers.graph, node_id)
    except ConfigError as error:
        raise HttpProblem(404, f"generation {readers.generation}: {error}", "NotFound") from error
    graph = show_around(
        (start,),
        graph=readers.graph,
        chunks=readers.chunks,
        generation=readers.generation,
        hops=hops,
        limit=NODES_MAX,
        kinds=(kind,) if kind else (),
    )
    edges = (*readers.graph.edges_from([start]), *readers.graph.edges_to([start]))
    return Near(
        start=next(node for node in graph.nodes if node.hop == 0),
        graph=graph,
        steps=tuple(steps_of(graph, start)),
        kinds=tuple(sorted({edge.kind for edge in edges})),
        left_out=sum(one.nodes for one in graph.left_out),
    )


def steps_of(graph: ShownGraph, start: str) -> Iterator[SeenEdge]:
    """Give each edge as a step: those of *start* first, equal ones once, by kind and what they lead to."""
    nodes = {node.id: node for node in graph.nodes}
    counted: dict[tuple[bool, str, str, str, str], list[Edge]] = {}
    for edge in graph.edges:
        far = nodes[edge.src if edge.dst == start else edge.dst]
        key = (start not in (edge.src, edge.dst), edge.kind.value, far.label.casefold(), edge.src, edge.dst)
        counted.setdefault(key, []).append(edge)
    for (apart, _, _, src, dst), edges in sorted(counted.items()):
        leaving = src == start
        words = next((edge.anchor_text or edge.predicate for edge in edges), None)
        yield SeenEdge(
            kind=edges[0].kind,
            node=nodes[dst] if apart or leaving else nodes[src],
            leaving=None if apart else leaving,
            beside=nodes[src] if apart else None,
            words=words,
            count=len(edges),
        )


def page_of_node(node: ShownNode) -> str | None:
    """Return the page of ours that shows a node itself, None where only its surroundings can be shown."""
    kind = NodeKind(node.kind)
    if kind is NodeKind.CHUNK:
        return f"/cite/{node.id}#passage"
    return f"/doc/{node.id}" if kind in (NodeKind.PAGE, NodeKind.PDF_DOC) and node.id == node.doc else None
