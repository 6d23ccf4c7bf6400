"""Writes nodes and edges of one generation."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import lancedb
import pyarrow as pa

from indexes.ports import StoreState
from indexes.stores.lance import graph_rows, scan
from indexes.stores.lance.staging import StagedTable
from indexes.stores.lance.tables import EDGE_SCHEMA, EDGES, NODE_SCHEMA, NODES
from schemas.edges import Edge
from schemas.errors import DamageFound
from schemas.nodes import Node

BATCH_ROWS = 5000
"""Rows turned to Arrow at once."""

T = TypeVar("T")


class LanceGraphWriter:
    """A GraphWriter: one commit for each `apply_nodes` and `apply_edges`, none for an empty one."""

    def __init__(self, database: lancedb.DBConnection) -> None:
        self._nodes = StagedTable(database, NODES, NODE_SCHEMA, small_rows=True)
        self._edges = StagedTable(database, EDGES, EDGE_SCHEMA, small_rows=True)

    def stage(self, generation: int, *, base: int) -> None:
        """Make both tables equal to *base*, undoing whatever an abandoned generation left."""
        self._nodes.stage(generation, base=base)
        self._edges.stage(generation, base=base)

    def apply_nodes(self, upserts: Iterable[Node], deletes: Collection[str]) -> None:
        """Upsert nodes by id and delete ids."""
        self._nodes.apply(_batches(upserts, graph_rows.nodes_to_batch), deletes)

    def apply_edges(self, upserts: Iterable[Edge], deletes: Collection[str]) -> None:
        """Upsert edges by id and delete ids.

        Raises: DamageFound: an end of an upserted edge is no node; nothing is written.
        """
        self._edges.apply(self._joined(_batches(upserts, graph_rows.edges_to_batch)), deletes)

    def finish(
        self, generation: int, *, before: tuple[StoreState, StoreState] | None = None
    ) -> tuple[StoreState, StoreState]:
        """Name the staged state *generation* for readers; give what nodes and edges contain."""
        nodes, edges = before or (None, None)
        return self._nodes.finish(generation, before=nodes), self._edges.finish(generation, before=edges)

    def abort(self, generation: int, *, base: int) -> None:
        """Leave no trace of the staged generation."""
        self.stage(generation, base=base)

    def prune(self, *, keep: Collection[int]) -> None:
        """Make generations other than *keep* unreadable and free their disk space in time."""
        self._nodes.prune(keep=keep)
        self._edges.prune(keep=keep)

    def maintain(self, generation: int, *, fence: Callable[[], None]) -> None:
        """Join files and merge segments of indexes, for the next generation."""
        self._nodes.maintain(generation, fence=fence)
        self._edges.maintain(generation, fence=fence)

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
    rows = iter(items)
    while batch := list(islice(rows, BATCH_ROWS)):
        yield to_batch(batch)
