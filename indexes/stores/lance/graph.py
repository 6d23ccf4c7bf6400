"""Reads nodes and edges of one generation."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from lancedb.table import Table

from indexes.ports import StoreState
from indexes.stores.lance import graph_rows, scan
from indexes.stores.lance.filters import between, one_of
from indexes.stores.lance.held import HeldEdges, HeldRows
from indexes.stores.lance.tables import EDGE_SCHEMA, NODE_SCHEMA
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Node
from schemas.records import Record

_NODE_COLUMNS = tuple(NODE_SCHEMA.names)
_EDGE_COLUMNS = tuple(EDGE_SCHEMA.names)
SHOWN_NODE, SHOWN_EDGE = _NODE_COLUMNS[:-1], _EDGE_COLUMNS[:-1]
"""Without the hash of the row, which only a look for damage reads."""


class LanceGraphReader:
    """A GraphReader over one version of the tables `nodes` and `edges`.

    Args: held: what they keep in memory; answers do not depend on it.
    """

    def __init__(self, nodes: Table, edges: Table, *, held: tuple[HeldRows, HeldEdges] | None = None) -> None:
        self._nodes = nodes
        self._edges = edges
        self._held_nodes = held[0] if held else None
        self._held_edges = held[1] if held else None

    def nodes(self, ids: Collection[str]) -> tuple[Node, ...]:
        """Nodes by id, in id order."""
        return self._nodes_with("id", ids)

    def ids_between(self, low: str, high: str, *, limit: int) -> tuple[str, ...]:
        """The first node ids from *low* up to *high*, in id order."""
        found = scan.read(self._nodes, between("id", low, high), ["id"])
        return tuple(sorted(found.column("id").to_pylist())[:limit])

    def nodes_of(self, docs: Collection[str]) -> tuple[Node, ...]:
        """All nodes of the documents, in id order."""
        return self._nodes_with("doc", docs)

    def edges_of(self, docs: Collection[str]) -> tuple[Edge, ...]:
        """All edges that the documents state, in id order."""
        return tuple(sorted(self._edges_with("doc", docs, None), key=lambda edge: edge.id))

    def edges_from(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges leaving *ids*, ordered by (src, kind, dst, id)."""
        found = self._edges_with("src", ids, kinds)
        return tuple(sorted(found, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id)))

    def edges_to(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        """Edges entering *ids*, ordered by (dst, kind, src, id)."""
        found = self._edges_with("dst", ids, kinds)
        return tuple(sorted(found, key=lambda edge: (edge.dst, edge.kind, edge.src, edge.id)))

    def scan_nodes(self, *, source: str | None = None) -> Iterator[Node]:
        """All nodes, or one source's, in id order, a page at a time."""
        found = scan.narrow_rows_in_id_order(self._nodes, SHOWN_NODE, _of_source(source))
        return map(graph_rows.node_from_row, found)

    def scan_edges(
        self, *, source: str | None = None, kinds: Collection[EdgeKind] | None = None
    ) -> Iterator[Edge]:
        """All edges, or those of one source or of some kinds, in id order, a page at a time."""
        tests = [_of_source(source), None if kinds is None else one_of("kind", kinds)]
        condition = " AND ".join(f"({test})" for test in tests if test) or None
        found = scan.narrow_rows_in_id_order(self._edges, SHOWN_EDGE, condition)
        return map(graph_rows.edge_from_row, found)

    def row_hashes(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """`row_sha256` as stored, by node id and by edge id."""
        return scan.hashes(self._nodes), scan.hashes(self._edges)

    def damaged_rows(self) -> tuple[str, ...]:
        """Ids of nodes and edges whose row no longer matches its hash, in id order; reads everything."""
        nodes = filter(graph_rows.is_damaged_node, scan.narrow_rows_in_id_order(self._nodes, _NODE_COLUMNS))
        edges = filter(graph_rows.is_damaged_edge, scan.narrow_rows_in_id_order(self._edges, _EDGE_COLUMNS))
        return tuple(sorted(row["id"] for row in chain(nodes, edges)))

    def state(self) -> tuple[StoreState, StoreState]:
        """Counts per kind, digests and table versions of nodes and of edges."""
        return scan.state(self._nodes), scan.state(self._edges)

    def _nodes_with(self, column: str, values: Collection[str]) -> tuple[Node, ...]:
        if self._held_nodes is not None:
            found: Iterable[Record] = self._held_nodes.records(column, values)
        else:
            found = scan.rows_with(self._nodes, column, values, SHOWN_NODE)
        return tuple(sorted(map(graph_rows.node_from_row, found), key=lambda node: node.id))

    def _edges_with(
        self, column: str, values: Collection[str], kinds: Collection[EdgeKind] | None
    ) -> Iterator[Edge]:
        if self._held_edges is not None and column in self._held_edges.ends:
            return graph_rows.edges_from_columns(self._held_edges.columns(column, values, kinds))
        condition = None if kinds is None else one_of("kind", kinds)
        found = scan.rows_with(self._edges, column, values, SHOWN_EDGE, condition)
        return map(graph_rows.edge_from_row, found)


def _of_source(source: str | None) -> str | None:
    return None if source is None else one_of("source", [source])
