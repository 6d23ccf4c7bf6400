"""Neighbourhoods for the tests of what draws them."""

from retrieval.graph.surroundings import OmittedNodes
from schemas.edges import Edge, EdgeKind, plain_edge
from sitegraph.actions.neighbourhood import ShownGraph, ShownNode


def shown_node(name: str, hop: int, label: str | None = None) -> ShownNode:
    """A page with the id *name*."""
    return ShownNode(
        id=name, kind="Page", hop=hop, label=label or name.upper(), place=None, doc=name, source="s"
    )


def shown_edge(src: str, dst: str, kind: EdgeKind = EdgeKind.LINKS_TO) -> Edge:
    """An edge that its ends and kind say all about."""
    return plain_edge(kind, src, dst, doc=src, source="s")


def shown_graph(
    nodes: dict[str, int] | tuple[ShownNode, ...], *edges: Edge, left_out: tuple[OmittedNodes, ...] = ()
) -> ShownGraph:
    """A neighbourhood of pages by id and hop, or of nodes as they are."""
    listed = nodes if isinstance(nodes, tuple) else tuple(shown_node(*item) for item in nodes.items())
    return ShownGraph(
        version=1,
        generation=1,
        start=tuple(node.id for node in listed if node.hop == 0),
        hops=2,
        limit=4,
        kinds=None,
        nodes=listed,
        edges=tuple(sorted(edges, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id))),
        left_out=left_out,
    )
