"""One generation of the graph, read from Neo4j.

Every statement names its index by hand, and seeks in it. The planner might else walk the index over
`valid_to`, in which a row moves when a later generation ends it, and a walk beside a writer could miss that
row or meet it twice.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

from indexes.digests import StoredRow, edge_sha256, node_sha256, state_of_rows
from indexes.ports import StoreState
from indexes.stores.neo4j_.generations import check_layout, load_held
from indexes.stores.neo4j_.schema import (
    EDGE_ROWS,
    NODE_ROWS,
    RowKind,
    edge_from_properties,
    node_from_properties,
)
from indexes.stores.neo4j_.session import Connection, Row, Transaction
from schemas.edges import Edge, EdgeKind
from schemas.errors import StoreUnavailable
from schemas.nodes import Node

_PAGE_ROWS = 5_000
_PAGE_HASHES = 20_000
_HERE = "v.ix = $ix AND v.valid_from <= $g AND $g < v.valid_to"
_ROW = "properties(v) AS v"
_ENDS = "startNode(v).id AS src, endNode(v).id AS dst"
_HASH = "v.id AS id, v.row_sha256 AS sha"


class Neo4jGraphReader:
    """Nodes and edges of one generation; `GraphReader` says what each method promises.

    Args: checked: whether each answer is given only if the generation was still kept after it was read.
    """

    def __init__(self, connection: Connection, *, ix: str, generation: int, checked: bool = True) -> None:
        self._connection = connection
        self._ix = ix
        self._generation = generation
        self._checked = checked

    def nodes(self, ids: Collection[str]) -> tuple[Node, ...]:
        return _as_nodes(self._ask(_by_id(NODE_ROWS, "v.id IN $ids", _ROW), ids=sorted(set(ids))))

    def ids_between(self, low: str, high: str, *, limit: int) -> tuple[str, ...]:
        statement = _by_id(NODE_ROWS, "$low <= v.id AND v.id < $high", "v.id AS id ORDER BY id LIMIT $limit")
        return tuple(row["id"] for row in self._ask(statement, low=low, high=high, limit=limit))

    def nodes_of(self, docs: Collection[str]) -> tuple[Node, ...]:
        return _as_nodes(self._ask(_by_doc(NODE_ROWS), docs=sorted(set(docs))))

    def edges_of(self, docs: Collection[str]) -> tuple[Edge, ...]:
        found = self._ask(_by_doc(EDGE_ROWS), docs=sorted(set(docs)))
        return tuple(sorted(_as_edges(found), key=attrgetter("id")))

    def edges_from(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        edges = self._hop("src", ids, kinds)
        return tuple(sorted(edges, key=attrgetter("src", "kind", "dst", "id")))

    def edges_to(
        self, ids: Collection[str], *, kinds: Collection[EdgeKind] | None = None
    ) -> tuple[Edge, ...]:
        edges = self._hop("dst", ids, kinds)
        return tuple(sorted(edges, key=attrgetter("dst", "kind", "src", "id")))

    def scan_nodes(self, *, source: str | None = None) -> Iterator[Node]:
        for rows in self._pages(NODE_ROWS, _ROW, _PAGE_ROWS, source=source):
            yield from _as_nodes(rows)

    def scan_edges(
        self, *, source: str | None = None, kinds: Collection[EdgeKind] | None = None
    ) -> Iterator[Edge]:
        for rows in self._pages(EDGE_ROWS, _ROW, _PAGE_ROWS, source=source, kinds=kinds):
            yield from _as_edges(rows)

    def row_hashes(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return self._hashes(NODE_ROWS), self._hashes(EDGE_ROWS)

    def damaged_rows(self) -> tuple[str, ...]:
        return tuple(sorted({*self._damaged_nodes(), *self._damaged_edges()}))

    def state(self) -> tuple[StoreState, StoreState]:
        return self.state_of(NODE_ROWS), self.state_of(EDGE_ROWS)

    def state_of(self, rows: RowKind) -> StoreState:
        pages = self._pages(rows, f"{_HASH}, v.kind AS kind", _PAGE_HASHES)
        return state_of_rows(StoredRow(row["id"], row["kind"], row["sha"]) for page in pages for row in page)

    def _hashes(self, rows: RowKind) -> dict[str, str]:
        return {row["id"]: row["sha"] for page in self._pages(rows, _HASH, _PAGE_HASHES) for row in page}

    def _damaged_nodes(self) -> Iterator[str]:
        for page in self._pages(NODE_ROWS, _ROW, _PAGE_ROWS):
            yield from _repeated(page)
            yield from (row["v"]["id"] for row in page if not _is_sound_node(row["v"]))

    def _damaged_edges(self) -> Iterator[str]:
        for page in self._pages(EDGE_ROWS, f"{_ROW}, {_ENDS}", _PAGE_ROWS):
            yield from _repeated(page)
            yield from (row["v"]["id"] for row in page if not _is_sound_edge(row))

    def _hop(self, end: str, ids: Collection[str], kinds: Collection[EdgeKind] | None) -> Iterable[Edge]:
        of_kind = "IS NOT NULL" if kinds is None else "IN $kinds"
        match = f"MATCH {EDGE_ROWS.pattern} USING INDEX SEEK v:{EDGE_ROWS.name}(ix, {end}, kind)"
        hop = f"{match} WHERE {_HERE} AND v.{end} IN $ids AND v.kind {of_kind} RETURN {_ROW}"
        return _as_edges(self._ask(hop, ids=sorted(set(ids)), kinds=sorted(kinds or ())))

    def _pages(
        self,
        rows: RowKind,
        columns: str,
        size: int,
        *,
        source: str | None = None,
        kinds: Collection[EdgeKind] | None = None,
    ) -> Iterator[list[dict[str, Any]]]:
        """Return all such rows in id order, a page a transaction, so that no long one is held open."""
        condition = "v.id > $after" + (" AND v.source = $source" if source is not None else "")
        condition += " AND v.kind IN $kinds" if kinds is not None else ""
        returned = f"{columns}, v.id AS position ORDER BY v.ix, v.id LIMIT {size}"
        after = ""
        while True:
            page = self._ask(
                _by_id(rows, condition, returned), after=after, source=source, kinds=sorted(kinds or ())
            )
            yield page
            if len(page) < size:
                return
            after = page[-1]["position"]

    def _ask(self, *statements: str, **parameters: Any) -> list[dict[str, Any]]:
        if self._generation == 0:
            return []

        def work(transaction: Transaction) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            for statement in statements:
                found += transaction.run(statement, ix=self._ix, g=self._generation, **parameters)
            # After, not before: pruning hides a generation first and then removes its rows.
            if self._checked:
                check_kept(transaction, self._ix, self._generation)
            return found

        return self._connection.read(work)


def check_kept(transaction: Transaction, ix: str, generation: int) -> None:
    """Do nothing if readers may ask for *generation*.

    Raises: StoreUnavailable: it has been pruned or aborted, or never was; SchemaMismatch: an earlier
    version wrote it.
    """
    held = load_held(transaction, ix)
    check_layout(held, ix)
    finished = held.finished
    if generation not in finished:
        kept = ", ".join(map(str, sorted(finished))) or "none"
        raise StoreUnavailable(
            f"generation {generation} is not in this graph store (it holds: {kept}); "
            "read CURRENT and start again",
            subject=ix,
        )


def _by_id(rows: RowKind, condition: str, returned: str) -> str:
    hint = f"USING INDEX SEEK v:{rows.name}(ix, id, valid_from)"
    return f"MATCH {rows.pattern} {hint} WHERE {_HERE} AND {condition} RETURN {returned}"


def _by_doc(rows: RowKind) -> str:
    hint = f"USING INDEX SEEK v:{rows.name}(ix, doc)"
    return f"MATCH {rows.pattern} {hint} WHERE {_HERE} AND v.doc IN $docs RETURN {_ROW}"


def _as_nodes(rows: Iterable[Row]) -> tuple[Node, ...]:
    return tuple(node_from_properties(v) for v in sorted(map(itemgetter("v"), rows), key=itemgetter("id")))


def _as_edges(rows: Iterable[Row]) -> Iterator[Edge]:
    return (edge_from_properties(row["v"]) for row in rows)


def _repeated(page: Iterable[Row]) -> Iterator[str]:
    """Ids that two rows have at one generation, of a page in id order: no constraint forbids that."""
    ids = [row["position"] for row in page]
    yield from (one for one, other in pairwise(ids) if one == other)


def _is_sound_node(properties: Row) -> bool:
    try:
        return node_sha256(node_from_properties(properties)) == str(properties["row_sha256"])
    except (KeyError, TypeError, ValueError):
        return False


def _is_sound_edge(row: Row) -> bool:
    try:
        edge = edge_from_properties(row["v"])
        ends = (edge.src, edge.dst) == (row["src"], row["dst"])
        return ends and edge_sha256(edge) == str(row["v"]["row_sha256"])
    except (KeyError, TypeError, ValueError):
        return False
