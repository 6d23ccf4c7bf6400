"""Records to Neo4j properties and back; `to_properties` loses nothing that `from_properties` needs.

A Neo4j property contains a scalar or a list of scalars of one type, and no null. So a None is left out,
and a list of anything but strings (boxes, offsets) becomes JSON under a name that says so.
"""

import json
from collections.abc import Mapping
from typing import Any

from indexes.digests import row_sha256
from schemas.edges import Edge
from schemas.nodes import Node
from schemas.records import Record, from_record, node_from_record, node_to_record, to_record

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
