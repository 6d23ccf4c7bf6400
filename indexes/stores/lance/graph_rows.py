"""Nodes and edges to Arrow rows and back; what has no column of its own is canonical JSON in `props`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from indexes.digests import edge_sha256, node_sha256
from indexes.stores.lance.tables import EDGE_SCHEMA, NODE_SCHEMA
from schemas.edges import Edge, EdgeKind
from schemas.errors import SchemaMismatch
from schemas.hashing import canonical_json
from schemas.nodes import Node
from schemas.records import Record, from_record, node_from_record, node_to_record, read_fields, to_record

_HASH, _PROPS = "row_sha256", "props"
PROPS_KEPT = 5_000
_KINDS = {kind.value: kind for kind in EdgeKind}


def nodes_to_batch(nodes: Sequence[Node]) -> pa.RecordBatch:
    """Turn nodes into a batch of NODE_SCHEMA."""
    return _batch([(node_to_record(node), node_sha256(node)) for node in nodes], NODE_SCHEMA)


def edges_to_batch(edges: Sequence[Edge]) -> pa.RecordBatch:
    """Turn edges into a batch of EDGE_SCHEMA."""
    return _batch([(to_record(edge), edge_sha256(edge)) for edge in edges], EDGE_SCHEMA)


def node_from_row(row: Record) -> Node:
    """Build the node that a row of `nodes` contains."""
    return node_from_record(_record(row))


def edge_from_row(row: Record) -> Edge:
    """Build the edge that a row of `edges` contains."""
    return from_record(Edge, _record(row))


def edges_from_columns(columns: Mapping[str, Sequence[Any]]) -> Iterator[Edge]:
    """Build the edges of whole columns of `edges`, without the hash."""
    plain = [name for name in columns if name not in ("kind", _PROPS)]
    values = zip(*(columns[name] for name in plain), strict=True)
    for kind, props, row in zip(columns["kind"], columns[_PROPS], values, strict=True):
        yield Edge(kind=_KINDS[kind], **dict(zip(plain, row, strict=True)), **_typed(props))


def is_damaged_node(row: Record) -> bool:
    """Whether a row of `nodes` no longer matches its hash."""
    try:
        return node_sha256(node_from_row(row)) != str(row[_HASH])
    except (TypeError, ValueError, LookupError, SchemaMismatch):  # no longer even a node
        return True


def is_damaged_edge(row: Record) -> bool:
    """Whether a row of `edges` no longer matches its hash."""
    try:
        return edge_sha256(edge_from_row(row)) != str(row[_HASH])
    except (TypeError, ValueError, LookupError, SchemaMismatch):  # no longer even an edge
        return True


def _batch(hashed: Sequence[tuple[Record, str]], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([_row(record, sha, schema) for record, sha in hashed], schema=schema)


def _row(record: Record, sha: str, schema: pa.Schema) -> Record:
    props = {key: value for key, value in record.items() if key not in schema.names}
    columns: Record = {key: value for key, value in record.items() if key in schema.names}
    return {**columns, _PROPS: canonical_json(props), _HASH: sha}


def _record(row: Record) -> Record:
    columns: dict[str, Any] = {key: value for key, value in row.items() if key not in (_PROPS, _HASH)}
    return {**columns, **json.loads(row[_PROPS])}


@lru_cache(maxsize=PROPS_KEPT)
def _typed(props: str) -> Mapping[str, Any]:
    """Read the `props` of an edge; thousands have the same."""
    return MappingProxyType(read_fields(Edge, json.loads(props)))
