"""Columns of nodes and edges, read off their classes: a new kind of node brings its fields along."""

import json
import types
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from schemas.edges import Edge
from schemas.geometry import BBox, PageSize
from schemas.nodes import NODE_TYPES


class ColumnType(StrEnum):
    """What a column contains; STRUCTURE is anything else, as JSON."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRINGS = "strings"
    NUMBERS = "numbers"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class Column:
    """A name and what stands under it; every column may be empty."""

    name: str
    type: ColumnType


_SCALARS = {bool: ColumnType.BOOLEAN, int: ColumnType.INTEGER, float: ColumnType.NUMBER}
_LISTS = {str: ColumnType.STRINGS, int: ColumnType.NUMBERS, float: ColumnType.NUMBERS}


@cache
def node_columns() -> tuple[Column, ...]:
    """`id`, `kind` and `label`, then every field of any kind of node, by name."""
    found = {name: type_ for cls in NODE_TYPES.values() for name, type_ in _columns(cls).items()}
    rest = (Column(name, found[name]) for name in sorted(found) if name not in ("id", "kind", "label"))
    return (*(Column(name, ColumnType.STRING) for name in ("id", "kind", "label")), *rest)


@cache
def edge_columns() -> tuple[Column, ...]:
    """`id`, `src`, `dst` and `kind`, then the other fields of an edge, by name."""
    found = _columns(Edge)
    first = ("id", "src", "dst", "kind")
    return tuple(Column(name, found[name]) for name in (*first, *sorted(found.keys() - set(first))))


def fill(record: dict[str, Any], columns: tuple[Column, ...]) -> dict[str, Any]:
    """Return a value for every column: None where the record has none, JSON text for a structure."""
    return {column.name: _value(record.get(column.name), column.type) for column in columns}


def _value(value: Any, type_: ColumnType) -> Any:
    if value is None or type_ is not ColumnType.STRUCTURE:
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _columns(cls: type[Any]) -> dict[str, ColumnType]:
    hints = get_type_hints(cls)
    return {field.name: _type(hints[field.name]) for field in fields(cls)}


def _type(hint: Any) -> ColumnType:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg is not type(None)]
        return _type(inner[0]) if len(inner) == 1 else ColumnType.STRUCTURE
    if origin is tuple:
        return _LISTS.get(args[0], ColumnType.STRUCTURE)
    if hint in (BBox, PageSize):
        return ColumnType.NUMBERS
    if isinstance(hint, type) and issubclass(hint, str):
        return ColumnType.STRING
    return _SCALARS.get(hint, ColumnType.STRUCTURE)
