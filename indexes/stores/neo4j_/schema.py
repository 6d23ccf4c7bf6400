"""Labels, types, constraints and indexes of the database (docs/stores.md), and records as properties."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from indexes.digests import row_sha256
from schemas.edges import Edge
from schemas.nodes import Node, NodeKind
from schemas.records import Record, from_record, node_from_record, node_to_record, to_record

OPEN = 2**53 - 1
"""`valid_to` of a row that nothing has ended: a number, since null is in no index; exact in JavaScript."""

REF, REV, HAS_REV, EDGE = "SitegraphRef", "SitegraphRev", "SITEGRAPH_HAS_REV", "SITEGRAPH_EDGE"
"""Labels and types of rows; people browse none of them."""

VIEW_LABEL = "SitegraphNode"
"""What all nodes of the view bear besides the label of their kind."""

TEXT_INDEX, VECTOR_INDEX = "sitegraph_chunk_text", "sitegraph_chunk_embedding"
"""The indexes over chunks that outside retrievers are told of."""


def by_key(label: str, name: str, id_: str) -> str:
    """Return the MATCH that finds, as *name*, the node of an index by the expression of its id."""
    # SEEK: while statistics are young the planner would as soon read all nodes for each one it looks for.
    return f"MATCH ({name}:{label} {{ix: $ix, id: {id_}}}) USING INDEX SEEK {name}:{label}(ix, id)"


def seen(name: str, id_: str) -> str:
    """Return the MATCH that finds, as *name*, a node of the view by the expression of its id."""
    return by_key(VIEW_LABEL, name, id_)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind:
    """Where rows of nodes or of edges stand: `pattern` finds them as `v`, `indexes` by their names' ends.

    `delete` ends a statement that has found some `v`: it removes them, and a node's identity with its
    last row.
    """

    subject: str
    name: str
    pattern: str
    delete: str
    indexes: Mapping[str, str]


# Of these, every one costs each row written: one of both ends serves all that the writer asks.
_INDEXES = {"ended": "v.ix, v.valid_to, v.valid_from", "doc": "v.ix, v.doc"}
_ORPHANS = "WITH DISTINCT n WHERE NOT EXISTS { (n)--() } DELETE n"
NODE_ROWS = RowKind(
    subject="nodes",
    name=REV,
    pattern=f"(v:{REV})",
    delete=f"MATCH (n:{REF})-[:{HAS_REV}]->(v) DETACH DELETE v {_ORPHANS}",
    indexes=_INDEXES,
)
EDGE_ROWS = RowKind(
    subject="edges",
    name=EDGE,
    pattern=f"()-[v:{EDGE}]->()",
    delete="DELETE v",
    indexes={**_INDEXES, "from": "v.ix, v.src, v.kind", "to": "v.ix, v.dst, v.kind"},
)
ALL_ROWS = (EDGE_ROWS, NODE_ROWS)
"""Edges first: a node goes after the edges that hold its identity in place."""


INDEXES_THERE = "SHOW INDEXES YIELD name WHERE name STARTS WITH 'sitegraph_' RETURN name"
"""Names of the indexes that stand already; a constraint's index bears its name."""

LOOKED_UP = {
    NodeKind.PAGE: ("id", "url", "title", "doc_id"),
    NodeKind.PDF_DOC: ("id", "url", "title", "doc_id"),
    NodeKind.SECTION: ("id", "url", "heading"),
    NodeKind.PDF_PAGE: ("id",),
    NodeKind.PDF_REGION: ("id",),
    NodeKind.CHUNK: ("id", "url", "doc_id"),
    NodeKind.TOOL: ("id", "name"),
    NodeKind.ENTITY: ("id", "name"),
}
"""Properties that people look nodes up by, as the manual says; each index costs every node written."""


def schema_statements() -> dict[str, str]:
    """Return by name the statements that make constraints and indexes; each may be repeated.

    Community edition has uniqueness constraints only, so nothing here needs more.
    """
    identities = (
        _unique("sitegraph_index", "(v:SitegraphIndex)", "v.id"),
        _unique("sitegraph_internal_ref", f"(v:{REF})", "v.ix, v.id"),
        _unique("sitegraph_node", f"(v:{VIEW_LABEL})", "v.ix, v.id"),
    )
    return dict(chain(identities, *(_row_statements(rows) for rows in ALL_ROWS), _view_statements()))


def vector_index(dim: int) -> str:
    """Return the statement that makes the index over the vectors of chunks."""
    return (
        f"CREATE VECTOR INDEX {VECTOR_INDEX} IF NOT EXISTS FOR (v:{NodeKind.CHUNK}) ON (v.embedding) OPTIONS "
        f"{{indexConfig: {{`vector.dimensions`: {dim}, `vector.similarity_function`: 'cosine'}}}}"
    )


def _view_statements() -> Iterator[tuple[str, str]]:
    for kind, properties in LOOKED_UP.items():
        for property_ in properties:
            name = f"sitegraph_view_{kind.lower()}_{property_}"
            yield name, f"CREATE INDEX {name} IF NOT EXISTS FOR (v:{kind}) ON (v.{property_})"
    text = f"FOR (v:{NodeKind.CHUNK}) ON EACH [v.text]"
    yield TEXT_INDEX, f"CREATE FULLTEXT INDEX {TEXT_INDEX} IF NOT EXISTS {text}"


def _row_statements(rows: RowKind) -> Iterator[tuple[str, str]]:
    name = f"sitegraph_internal_{rows.subject}"
    yield _unique(name, rows.pattern, "v.ix, v.id, v.valid_from")
    for end, columns in rows.indexes.items():
        yield f"{name}_{end}", f"CREATE INDEX {name}_{end} IF NOT EXISTS FOR {rows.pattern} ON ({columns})"


def _unique(name: str, pattern: str, key: str) -> tuple[str, str]:
    return name, f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR {pattern} REQUIRE ({key}) IS UNIQUE"


Properties = dict[str, Any]

_JSON = "_json"
_OURS = frozenset({"ix", "valid_from", "valid_to", "row_sha256"})


def to_properties(record: Record) -> Properties:
    """Turn a record into properties; a None, at the top, is left out."""
    return dict(_property(name, value) for name, value in record.items() if value is not None)


def property_names(field: str) -> tuple[str, str]:
    """Return the names under which a field of a record may be a property."""
    return field, field + _JSON


def from_properties(properties: Mapping[str, Any]) -> Record:
    """Turn properties back into a record, without what only the store wrote."""
    return dict(_entry(name, value) for name, value in properties.items() if name not in _OURS)


def node_properties(node: Node) -> Properties:
    """Return what the row of *node* contains, but for its index and interval."""
    record = node_to_record(node)
    return {**to_properties(record), "row_sha256": row_sha256(record)}


def node_from_properties(properties: Mapping[str, Any]) -> Node:
    """Build a node from its row."""
    return node_from_record(from_properties(properties))


def edge_properties(edge: Edge) -> Properties:
    """Return what the row of *edge* contains, but for its index and interval."""
    record = to_record(edge)
    return {**to_properties(record), "row_sha256": row_sha256(record)}


def edge_from_properties(properties: Mapping[str, Any]) -> Edge:
    """Build an edge from its row."""
    return from_record(Edge, from_properties(properties))


def _property(name: str, value: Any) -> tuple[str, Any]:
    if isinstance(value, list | dict) and not _is_texts(value):
        return name + _JSON, json.dumps(value, ensure_ascii=False, allow_nan=False)
    return name, value


def _entry(name: str, value: Any) -> tuple[str, Any]:
    return (name.removesuffix(_JSON), json.loads(value)) if name.endswith(_JSON) else (name, value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
