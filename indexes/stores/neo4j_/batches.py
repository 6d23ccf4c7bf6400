"""Batches of rows: what must change is decided first, then written by several transactions at once."""

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from typing import Any, TypeVar

from indexes.stores.neo4j_.schema import (
    EDGE,
    EDGE_ROWS,
    HAS_REV,
    NODE_ROWS,
    OPEN,
    REF,
    REV,
    Properties,
    RowKind,
    by_key,
    edge_properties,
    node_properties,
)
from indexes.stores.neo4j_.session import Transaction
from schemas.cost import Cause, caused_by
from schemas.edges import Edge
from schemas.errors import DamageFound
from schemas.nodes import Node, kind_of

BATCH_ROWS = 2_000
"""Rows of a transaction: 9,300 nodes a second against 5,700 at 1,000; no more at 5,000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """What a batch changes: rows to add, and ids whose live row ends."""

    added: tuple[Properties, ...]
    ended: tuple[str, ...]


def plan_batch(wanted: Iterable[Properties], live: Mapping[str, str]) -> BatchPlan:
    """Leave out rows that are there already; a row with other content replaces its live one.

    Args: live: `row_sha256` by id of the rows that nothing has ended.
    """
    changed = tuple(row for row in wanted if live.get(row["id"]) != row["row_sha256"])
    return BatchPlan(added=changed, ended=tuple(row["id"] for row in changed if row["id"] in live))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Writes batches of one generation of one index, from several threads where no two share an id.

    `known` are nodes that were found to be there; none goes while edges are written. `told_nodes` and
    `told_edges` are what was asked for: by id the hash of a row, None of one that goes.
    """

    ix: str
    generation: int
    known: set[str] = field(default_factory=set)
    told_nodes: dict[str, str | None] = field(default_factory=dict)
    told_edges: dict[str, str | None] = field(default_factory=dict)

    def upsert_nodes(self, transaction: Transaction, nodes: Iterable[Node]) -> None:
        """Add new and changed nodes."""
        ordered = sorted(
            {node.id: node for node in nodes}.values(), key=lambda node: (kind_of(node), node.id)
        )
        rows = [node_properties(node) for node in ordered]
        self.told_nodes.update((row["id"], row["row_sha256"]) for row in rows)
        plan = self._plan(transaction, NODE_ROWS, rows)
        self._end(transaction, NODE_ROWS, plan.ended)
        if plan.added:
            self._run(transaction, _ADD_NODES, rows=list(plan.added))

    def upsert_edges(self, transaction: Transaction, edges: Iterable[Edge]) -> None:
        """Add new and changed edges.

        Raises: DamageFound: an end is not a node of this generation.
        """
        rows = [edge_properties(edge) for _, edge in sorted({edge.id: edge for edge in edges}.items())]
        self.told_edges.update((row["id"], row["row_sha256"]) for row in rows)
        plan = self._plan(transaction, EDGE_ROWS, rows)
        self._end(transaction, EDGE_ROWS, plan.ended)
        if plan.added:
            self._check_ends(transaction, plan.added)
            self._run(transaction, _ADD_EDGES, rows=list(plan.added))

    def delete_nodes(self, transaction: Transaction, ids: Collection[str]) -> None:
        """End the live rows of nodes; unknown ids change nothing."""
        self.told_nodes.update(dict.fromkeys(ids))
        self._end(transaction, NODE_ROWS, ids)

    def delete_edges(self, transaction: Transaction, ids: Collection[str]) -> None:
        """The same of edges."""
        self.told_edges.update(dict.fromkeys(ids))
        self._end(transaction, EDGE_ROWS, ids)

    def _plan(self, transaction: Transaction, rows: RowKind, wanted: list[Properties]) -> BatchPlan:
        found = self._run(
            transaction,
            f"{_find_live(rows)} RETURN id, v.row_sha256 AS sha",
            ids=[row["id"] for row in wanted],
        )
        return plan_batch(wanted, {row["id"]: row["sha"] for row in found})

    def _end(self, transaction: Transaction, rows: RowKind, ids: Collection[str]) -> None:
        """End live rows: those of this generation go, older ones stay for older readers."""
        if not ids:
            return
        find = _find_live(rows)
        ids = sorted(set(ids))
        self._run(transaction, f"{find} AND v.valid_from = $g WITH v {rows.delete}", ids=ids)
        self._run(transaction, f"{find} AND v.valid_from < $g SET v.valid_to = $g", ids=ids)
        self.known.difference_update(ids)

    def _check_ends(self, transaction: Transaction, edges: Collection[Properties]) -> None:
        ends = {end for edge in edges for end in (edge["src"], edge["dst"])} - self.known
        if not ends:
            return
        # Only what is missing comes back: to unpack every id takes the client longer than the search.
        find = _find_live(NODE_ROWS).replace("MATCH", "OPTIONAL MATCH")
        missing = self._run(transaction, f"{find} WITH id, v WHERE v IS NULL RETURN id", ids=sorted(ends))
        if missing:
            end = missing[0]["id"]
            edge = next(edge for edge in edges if end in (edge["src"], edge["dst"]))
            raise DamageFound(
                f"no node {end} in generation {self.generation}, an end of a {edge['kind']} edge "
                f"({len(missing)} ends missing); nothing of this batch was written; run: sitegraph verify",
                subject=edge["id"],
            )
        self.known.update(ends)

    def _run(self, transaction: Transaction, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        return transaction.run(statement, ix=self.ix, g=self.generation, open=OPEN, **parameters)


def _find_live(rows: RowKind) -> str:
    # SEEK in the index by name: a plan made while statistics are young would read all rows for each id, in
    # that index too (5,000 edges took 12 s to look for), and be kept for a while.
    hint = f"USING INDEX SEEK v:{rows.name}(ix, id, valid_from)"
    live = "v.ix = $ix AND v.id = id AND v.valid_from <= $g AND v.valid_to = $open"
    return f"UNWIND $ids AS id MATCH {rows.pattern} {hint} WHERE {live}"


_STAMPED = "{ix: $ix, id: row.id, valid_from: $g, valid_to: $open}"


_ADD_NODES = (
    f"UNWIND $rows AS row MERGE (n:{REF} {{ix: $ix, id: row.id}}) "
    f"CREATE (n)-[:{HAS_REV}]->(v:{REV} {_STAMPED}) SET v += row"
)
_ADD_EDGES = (
    f"UNWIND $rows AS row {by_key(REF, 'a', 'row.src')} {by_key(REF, 'b', 'row.dst')} "
    f"CREATE (a)-[v:{EDGE} {_STAMPED}]->(b) SET v += row"
)


T = TypeVar("T")

WRITERS = 2
"""Transactions at once: two write 1.7 times as many rows a second as one, three fewer (on two cores)."""


class WritingStopped(Exception):
    """Another batch failed, or somebody interrupted: nothing of this one is to stay."""


GoOn = Callable[[], None]
"""Raises WritingStopped once no batch is to be committed any more."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """A batch that is being written, by the ids of its rows."""

    ids: frozenset[str]
    writing: Future[None]


def write_batches(
    batches: Iterable[list[T]], write: Callable[[list[T], GoOn], None], *, key: Callable[[T], str]
) -> None:
    """Write every batch; one with an id of another that is not done yet waits for that one.

    An error of a batch stops the others that are being written, and is raised when none is. An interrupt is
    raised at once: a server that does not answer keeps nobody from ending.

    Args: write: writes one batch and asks before it commits whether to go on; it is called from several
    threads. key: the id of a row.
    """
    stopped, begun = Event(), list[_Begun]()

    def go_on() -> None:
        if stopped.is_set():
            raise WritingStopped

    try:
        for batch in batches:
            ids = frozenset(map(key, batch))
            begun = _unfinished(begun)
            while len(begun) >= WRITERS or not all(ids.isdisjoint(other.ids) for other in begun):
                begun = _first_finished(begun)
            begun.append(_Begun(ids, _begin(partial(write, batch, go_on))))
        while begun:
            begun = _first_finished(begun)
    except Exception:
        stopped.set()
        wait([one.writing for one in begun])
        raise
    except BaseException:
        stopped.set()
        raise


def _begin(write: Callable[[], None]) -> Future[None]:
    """Write in a thread of its own, which does not keep the process from ending."""
    writing = Future[None]()

    def work() -> None:
        try:
            with caused_by(Cause.WRITE):
                write()
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            writing.set_exception(error)
        else:
            writing.set_result(None)

    Thread(target=work, name="neo4j", daemon=True).start()
    return writing


def _first_finished(begun: list[_Begun]) -> list[_Begun]:
    """Wait until one is done; the others."""
    wait([one.writing for one in begun], return_when=FIRST_COMPLETED)
    return _unfinished(begun)


def _unfinished(begun: list[_Begun]) -> list[_Begun]:
    """Those that are not done; raises the error of one that failed."""
    left = []
    for one in begun:
        if one.writing.done():
            one.writing.result()
        else:
            left.append(one)
    return left
