"""Nodes and edges of one generation as rows, a page at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from indexes.ports import GraphReader
from schemas.edges import Edge
from schemas.nodes import Node
from schemas.records import node_to_record, to_record
from sitegraph.cli.exports.columns import edge_columns, fill, node_columns
from sitegraph.graph_view.shown import label_of

Row = dict[str, Any]
PAGE = 1000


@dataclass(frozen=True, slots=True)
class RowPage:
    """Up to PAGE rows of nodes, or of edges; the ends of every edge have come before it."""

    nodes: tuple[Row, ...] = ()
    edges: tuple[Row, ...] = ()


def graph_pages(graph: GraphReader, *, source: str | None = None) -> Iterator[RowPage]:
    """Yield nodes in id order, then edges in id order.

    With *source*, its nodes and edges alone, and before a page of edges those nodes of other sources that
    they lead to.
    """
    for nodes in _paged(graph.scan_nodes(source=source)):
        yield RowPage(nodes=_node_rows(nodes))
    outside: set[str] = set()
    for edges in _paged(graph.scan_edges(source=source)):
        if source is not None and (more := _others(graph, edges, source, outside)):
            yield RowPage(nodes=_node_rows(more))
        yield RowPage(edges=tuple(fill(to_record(edge), edge_columns()) for edge in edges))


def _others(graph: GraphReader, edges: Iterable[Edge], source: str, given: set[str]) -> list[Node]:
    """Ends of *edges* that are nodes of other sources and not yet *given*, which takes them up."""
    ends = {end for edge in edges for end in (edge.src, edge.dst)} - given
    found = [node for node in graph.nodes(ends) if node.source != source]
    given |= {node.id for node in found}
    return found


def _node_rows(nodes: Iterable[Node]) -> tuple[Row, ...]:
    return tuple(fill({**node_to_record(node), "label": label_of(node)}, node_columns()) for node in nodes)


def _paged(values: Iterator[Any]) -> Iterator[list[Any]]:
    while page := list(islice(values, PAGE)):
        yield page
