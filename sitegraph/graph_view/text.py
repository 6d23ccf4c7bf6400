"""A neighbourhood for a terminal: each node under the one it was reached from, then the other edges."""

from collections.abc import Iterator, Mapping

from schemas.edges import Edge
from sitegraph.graph_view.shown import ShownGraph, ShownNode

_INDENT = "  "


def render_tree(graph: ShownGraph) -> str:
    """Return the tree, the edges that are not in it, and what was left out."""
    nodes = {node.id: node for node in graph.nodes}
    tree = _tree(graph, nodes)
    lines = [line for node in graph.nodes if node.hop == 0 for line in _branch(node, "", nodes, tree)]
    used = {edge.id for _, edge in _leading(tree)}
    more = [_more(edge, nodes) for edge in graph.edges if edge.id not in used]
    if more:
        lines += ["", "also", *more]
    if graph.left_out:
        lines += ["", say_left_out(graph)]
    return "\n".join(lines)


def say_left_out(graph: ShownGraph) -> str:
    """Say in one line what the limit had no place for; empty if nothing."""
    parts = [f"{one.nodes} by {one.kind} at hop {one.hop}" for one in graph.left_out]
    total = sum(one.nodes for one in graph.left_out)
    return f"left out by --limit {graph.limit}: {total} nodes ({', '.join(parts)})" if parts else ""


_Tree = Mapping[str, list[tuple[ShownNode, Edge]]]


def _tree(graph: ShownGraph, nodes: Mapping[str, ShownNode]) -> _Tree:
    """What was reached from each node: a node hangs at its first edge from the hop before."""
    first: dict[str, tuple[str, Edge]] = {}
    for edge in graph.edges:
        for near, far in ((edge.src, edge.dst), (edge.dst, edge.src)):
            if nodes[far].hop == nodes[near].hop + 1:
                first.setdefault(far, (near, edge))
    tree: dict[str, list[tuple[ShownNode, Edge]]] = {}
    for node in graph.nodes:
        if node.id in first:
            near, edge = first[node.id]
            tree.setdefault(near, []).append((node, edge))
    return tree


def _leading(tree: _Tree) -> Iterator[tuple[ShownNode, Edge]]:
    for reached in tree.values():
        yield from reached


def _branch(node: ShownNode, arrow: str, nodes: Mapping[str, ShownNode], tree: _Tree) -> Iterator[str]:
    yield f"{_INDENT * node.hop}{arrow}{node.kind}  {node.label}  [{node.id}]"
    for reached, edge in tree.get(node.id, ()):
        leaving = edge.src == node.id
        yield from _branch(reached, f"--{edge.kind}--> " if leaving else f"<--{edge.kind}-- ", nodes, tree)


def _more(edge: Edge, nodes: Mapping[str, ShownNode]) -> str:
    src, dst = nodes[edge.src], nodes[edge.dst]
    return f"{_INDENT}{src.label} [{src.id}] --{edge.kind}--> {dst.label} [{dst.id}]"
