"""Reads and writes nodes and edges of one generation."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

import lancedb
import pyarrow as pa
from lancedb.table import Table

from indexes.ports import StoreState
from indexes.stores.lance import rows, scan
from indexes.stores.lance.held import HeldEdges, HeldRows
from indexes.stores.lance.scan import between, one_of
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.tables import EDGE_SCHEMA, EDGES, NODE_SCHEMA, NODES
from schemas.batches import batched
from schemas.edges import Edge, EdgeKind
from schemas.errors import DamageFound
from schemas.nodes import Node
from schemas.records import Record

_NODE_COLUMNS = tuple(NODE_SCHEMA.names)
_EDGE_COLUMNS = tuple(EDGE_SCHEMA.names)
SHOWN_NODE, SHOWN_EDGE = _NODE_COLUMNS[:-1], _EDGE_COLUMNS[:-1]
"""Without the hash of the row, which only a look for damage reads."""


class LanceGraphReader:
    """Keeps the port GraphReader over one version of the tables `nodes` and `edges`.

    Args: held: what they keep in memory; answers do not depend on it.
    """

    def __init__(self, nodes: Table, edges: Table, *, held: tuple[HeldRows, HeldEdges] | None = None) -> None:
        self._nodes = nodes
        self._edges = edges
        self._held_nodes = held[0] if held else None
        self._held_edges = held[1] if held else None

    def nodes(self, ids: Collection[str]) -> tuple[Node, ...]:
        return self._nodes_with("id", ids)

    def ids_between(self, low: str, high: str, *, limit: int) -> tuple[str, ...]:
        found = scan.read(self._nodes, between("id", low, high), ["id"])
        return tuple(sorted(found.column("id").to_pylist())[:limit])

    def nodes_of(self, docs: Collection[str]) -> tuple[Node, ...]:
        return self._nodes_with("doc", docs)

    def edges_of(self, docs: Collection[str]) -> tuple[Edge, ...]:
        return tuple(sorted(self._edges_with("doc", docs, None), key=lambda edge: edge.id))

    def edges_from(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        found = self._edges_with("src", ids, kinds)
        return tuple(sorted(found, key=lambda edge: (edge.src, edge.kind, edge.dst, edge.id)))

    def edges_to(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        found = self._edges_with("dst", ids, kinds)
        return tuple(sorted(found, key=lambda edge: (edge.dst, edge.kind, edge.src, edge.id)))

    def scan_nodes(self, *, source: str | None = None) -> Iterator[Node]:
        found = scan.narrow_rows_in_id_order(self._nodes, SHOWN_NODE, _of_source(source))
        return map(rows.node_from_row, found)

    def scan_edges(
        self, *, source: str | None = None, kinds: Collection[EdgeKind] | None = None
    ) -> Iterator[Edge]:
        tests = [_of_source(source), None if kinds is None else one_of("kind", kinds)]
        condition = " AND ".join(f"({test})" for test in tests if test) or None
        found = scan.narrow_rows_in_id_order(self._edges, SHOWN_EDGE, condition)
        return map(rows.edge_from_row, found)

    def row_hashes(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return scan.hashes(self._nodes), scan.hashes(self._edges)

    def damaged_rows(self) -> tuple[str, ...]:
        nodes = filter(rows.is_damaged_node, scan.narrow_rows_in_id_order(self._nodes, _NODE_COLUMNS))
        edges = filter(rows.is_damaged_edge, scan.narrow_rows_in_id_order(self._edges, _EDGE_COLUMNS))
        return tuple(sorted(row["id"] for row in chain(nodes, edges)))

    def state(self) -> tuple[StoreState, StoreState]:
        return scan.state(self._nodes), scan.state(self._edges)

    def _nodes_with(self, column: str, values: Collection[str]) -> tuple[Node, ...]:
        if self._held_nodes is not None:
            found: Iterable[Record] = self._held_nodes.records(column, values)
        else:
            found = scan.rows_with(self._nodes, column, values, SHOWN_NODE)
        return tuple(sorted(map(rows.node_from_row, found), key=lambda node: node.id))

    def _edges_with(
        self, column: str, values: Collection[str], kinds: Collection[EdgeKind] | None
    ) -> Iterator[Edge]:
        if self._held_edges is not None and column in self._held_edges.ends:
            return rows.edges_from_columns(self._held_edges.columns(column, values, kinds))
        condition = None if kinds is None else one_of("kind", kinds)
        found = scan.rows_with(self._edges, column, values, SHOWN_EDGE, condition)
        return map(rows.edge_from_row, found)


def _of_source(source: str | None) -> str | None:
    return None if source is None else one_of("source", [source])


BATCH_ROWS = 5000
"""Rows turned to Arrow at once."""

T = TypeVar("T")


class LanceGraphWriter:
    """Keeps the port GraphWriter: one commit for each `apply_nodes` and `apply_edges`, none for nothing."""

    def __init__(self, database: lancedb.DBConnection) -> None:
        self._nodes = StagedTable(database, NODES, NODE_SCHEMA, small_rows=True)
        self._edges = StagedTable(database, EDGES, EDGE_SCHEMA, small_rows=True)
        self._tables = (self._nodes, self._edges)

    def stage(self, generation: int, *, base: int) -> None:
        for table in self._tables:
            table.stage(generation, base=base)

    abort = stage

    def apply_nodes(self, upserts: Iterable[Node], deletes: Collection[str]) -> None:
        self._nodes.apply_batches(_batches(upserts, rows.nodes_to_batch), deletes)

    def apply_edges(self, upserts: Iterable[Edge], deletes: Collection[str]) -> None:
        self._edges.apply_batches(self._joined(_batches(upserts, rows.edges_to_batch)), deletes)

    def finish(
        self, generation: int, *, before: tuple[StoreState, StoreState] | None = None
    ) -> tuple[StoreState, StoreState]:
        nodes, edges = before or (None, None)
        return self._nodes.finish(generation, before=nodes), self._edges.finish(generation, before=edges)

    def prune(self, *, keep: Collection[int]) -> None:
        for table in self._tables:
            table.prune(keep=keep)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        for table in self._tables:
            table.maintain(generation, fence=fence)

    def _joined(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known: set[str] = set()
        for batch in batches:
            ends = {*batch.column("src").to_pylist(), *batch.column("dst").to_pylist()} - known
            known.update(row["id"] for row in scan.rows_with(self._nodes.table, "id", ends, ["id"]))
            if missing := sorted(ends - known):
                message = f"{len(missing)} ends of edges are no nodes; write nodes before edges"
                raise DamageFound(message, subject=missing[0])
            yield batch


def _batches(
    items: Iterable[T], to_batch: Callable[[Sequence[T]], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return map(to_batch, batched(items, BATCH_ROWS))
