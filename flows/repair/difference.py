"""Rows that a table should have and has not, told by hashes: what a row holds may be past reading."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from indexes.digests import edge_sha256, node_sha256
from indexes.ports import GraphReader
from schemas.changes import RowChanges
from schemas.edges import Edge
from schemas.nodes import Node


class _Row(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=_Row)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """The rows of a table: by id the hash that each bears, and the ids of those that it does not fit."""

    hashes: Mapping[str, str]
    damaged: frozenset[str]


def select_differing(
    wanted: Iterable[R], stored: StoredRows, *, sha256: Callable[[R], str]
) -> tuple[tuple[R, ...], tuple[str, ...]]:
    """Return the rows to write, and the ids of those to delete before that.

    A store leaves a row alone whose hash is the one to write, even where it no longer fits the row: deleted,
    it is written whatever it bears.
    """
    differing = tuple(
        row for row in wanted if row.id in stored.damaged or stored.hashes.get(row.id) != sha256(row)
    )
    return differing, tuple(row.id for row in differing if row.id in stored.damaged)


def select_strays(stored: StoredRows, wanted: Collection[str]) -> tuple[str, ...]:
    """Return the ids of rows that nothing gives, in id order."""
    return tuple(sorted(stored.hashes.keys() - wanted))


@dataclass(kw_only=True)
class RepairedGraph:
    """Takes in every row that a graph should have; gives those that it has not, or otherwise."""

    nodes: StoredRows
    edges: StoredRows
    _wanted: set[str] = field(default_factory=set)

    def select(self, rows: RowChanges) -> RowChanges:
        """The rows that differ; those that do not fit the hash they bear are deleted before."""
        self._wanted.update(row.id for row in (*rows.nodes, *rows.edges))
        nodes, node_deletes = select_differing(rows.nodes, self.nodes, sha256=node_sha256)
        edges, edge_deletes = select_differing(rows.edges, self.edges, sha256=edge_sha256)
        return replace(rows, nodes=nodes, node_deletes=node_deletes, edges=edges, edge_deletes=edge_deletes)

    def keep(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Leave rows as they are, and what edges lead from or to."""
        self._wanted.update(node.id for node in nodes)
        for edge in edges:
            self._wanted.update((edge.id, edge.src, edge.dst))

    def strays(self) -> RowChanges:
        """The rows that nothing gives, once all have been taken in."""
        return RowChanges(
            node_deletes=select_strays(self.nodes, self._wanted),
            edge_deletes=select_strays(self.edges, self._wanted),
        )


def repaired_graph(graph: GraphReader) -> RepairedGraph:
    """Read from a graph the hashes of its rows, and which rows do not fit theirs."""
    (nodes, edges), damaged = graph.row_hashes(), frozenset(graph.damaged_rows())
    return RepairedGraph(
        nodes=StoredRows(hashes=nodes, damaged=damaged & nodes.keys()),
        edges=StoredRows(hashes=edges, damaged=damaged & edges.keys()),
    )
