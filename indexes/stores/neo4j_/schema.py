"""What stands in the database: labels, relationship types, constraints, indexes (design 5).

    (:SitegraphIndex {id, finished, staged})
    (:Ref:Page {ix, id}) -[:HAS_REV]-> (:Rev {ix, id, valid_from, valid_to, row_sha256, ...})
    (:Ref) -[:LINKS_TO {ix, id, valid_from, valid_to, row_sha256, ...}]-> (:Ref)

`ix` is the index that a row belongs to: several may share one database. A row, `Rev` or edge, is there
at generation g when `valid_from <= g < valid_to`. Identity and state are apart because a changed
property would otherwise show a pinned reader the future.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from schemas.edges import EdgeKind

OPEN = 2**53 - 1
"""`valid_to` of a row that nothing has ended: a number, since null is in no index; exact in JavaScript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind:
    """Where rows of one kind stand: `pattern` finds them as `v`.

    `delete` ends a statement that has found some `v`: it removes them, and a node's identity with its
    last row.
    """

    name: str
    pattern: str
    delete: str


def _node_rows() -> RowKind:
    orphans = "WITH DISTINCT n WHERE NOT EXISTS { (n)--() } DELETE n"
    return RowKind(
        name="Rev", pattern="(v:Rev)", delete=f"MATCH (n:Ref)-[:HAS_REV]->(v) DETACH DELETE v {orphans}"
    )


def relationship_type(kind: EdgeKind) -> str:
    """Give the relationship type of an edge kind, in Neo4j's spelling: LINKS_TO."""
    return kind.value.upper()


def _edge_rows(kind: EdgeKind) -> RowKind:
    name = relationship_type(kind)
    return RowKind(name=name, pattern=f"()-[v:{name}]->()", delete="DELETE v")


NODE_ROWS = _node_rows()
EDGE_ROWS = {kind: _edge_rows(kind) for kind in EdgeKind}
ALL_ROWS = (*EDGE_ROWS.values(), NODE_ROWS)
"""Edges first: a node goes after the edges that hold its identity in place."""


INDEXES_THERE = "SHOW INDEXES YIELD name WHERE name STARTS WITH 'sitegraph_' RETURN name"
"""Names of the indexes that stand already; a constraint's index bears its name."""


def schema_statements() -> dict[str, str]:
    """Give by name the statements that make constraints and indexes; each may be repeated.

    Community edition has uniqueness constraints only, so nothing here needs more.
    """
    identities = (
        _unique("sitegraph_index", "(v:SitegraphIndex)", "v.id"),
        _unique("sitegraph_ref", "(v:Ref)", "v.ix, v.id"),
    )
    return dict(chain(identities, *(_row_statements(rows) for rows in ALL_ROWS)))


def _row_statements(rows: RowKind) -> Iterator[tuple[str, str]]:
    name = f"sitegraph_{rows.name.lower()}"
    yield _unique(name, rows.pattern, "v.ix, v.id, v.valid_from")
    # Of these, every one costs each row written: one of both ends serves all that the writer asks.
    for index, columns in (
        (f"{name}_ended", "v.ix, v.valid_to, v.valid_from"),
        (f"{name}_doc", "v.ix, v.doc"),
    ):
        yield index, f"CREATE INDEX {index} IF NOT EXISTS FOR {rows.pattern} ON ({columns})"


def _unique(name: str, pattern: str, key: str) -> tuple[str, str]:
    return name, f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR {pattern} REQUIRE ({key}) IS UNIQUE"
