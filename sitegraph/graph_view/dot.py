"""A neighbourhood in the language of Graphviz."""

from collections.abc import Iterator

from schemas.edges import Edge
from sitegraph.graph_view.shown import ShownGraph, ShownNode
from sitegraph.graph_view.text import say_left_out


def render_dot(graph: ShownGraph) -> str:
    """Return a digraph whose node names are node ids."""
    return "\n".join(_lines(graph))


def quote(text: str) -> str:
    """Return *text* as a quoted string of DOT that is shown as it is.

    In a label a backslash begins an escape (`\\N`, `\\l`), so it is doubled; a line break becomes `\\n`.
    Source: graphviz.org, "The DOT Language" and "escString".
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _lines(graph: ShownGraph) -> Iterator[str]:
    yield "digraph sitegraph {"
    yield "  rankdir=LR;"
    yield "  node [shape=box];"
    if left := say_left_out(graph):
        yield f"  label={quote(left)};"
    for node in graph.nodes:
        yield f"  {quote(node.id)} [{_node(node)}];"
    for edge in graph.edges:
        yield f"  {quote(edge.src)} -> {quote(edge.dst)} [{_edge(edge)}];"
    yield "}"


def _node(node: ShownNode) -> str:
    weight = ", style=bold" if node.hop == 0 else ""
    named = quote(f"{node.kind}\n{node.label}")
    return f"label={named}{weight}"


def _edge(edge: Edge) -> str:
    return f"label={quote(edge.kind)}"
