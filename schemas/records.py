"""Dataclasses to JSON-ready records and back; `from_record(type(x), to_record(x)) == x`."""

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from schemas.ids import LATER
from schemas.nodes import NODE_TYPES, OBSERVED_FIELDS, BBox, Node, NodeKind, PageSize, kind_of

Record = dict[str, Any]
_SCALARS = frozenset({str, int, bool, type(None)})
T = TypeVar("T")


def to_record(value: Any) -> Record:
    """Turn a dataclass into plain dicts, lists and scalars; boxes become lists of numbers.

    A field marked `LATER` is left out where it has its default.
    """
    cls = cast(Hashable, type(value))
    record = {name: _plain(getattr(value, name)) for name in _names(cls)}
    for name, default in _later(cls):
        if getattr(value, name) == default:
            del record[name]
    return record


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls))


@cache
def _later(cls: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((f.name, f.default) for f in fields(cls) if f.metadata == LATER)


def show_as(cls: type[T], of: Any, **more: Any) -> T:
    """Make a dataclass of what *of* has of its fields under the same names; *more* come from elsewhere."""
    names = _names(cast(Hashable, cls))
    return cls(**{name: getattr(of, name) for name in names if hasattr(of, name)} | more)


def _plain(value: Any) -> Any:
    if type(value) in _SCALARS:  # nearly everything is one, and a run makes millions of records
        return value
    if type(value) is float:
        return value + 0.0  # -0.0 equals 0.0, so its record must
    if isinstance(value, BBox):
        return [_plain(side) for side in (value.x0, value.y0, value.x1, value.y1)]
    if isinstance(value, PageSize):
        return [_plain(value.width), _plain(value.height)]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return node_to_record(value) if type(value) in NODE_TYPES.values() else to_record(value)
    return value


def from_record(cls: type[T], record: Record) -> T:
    """Build a dataclass from its record; unknown keys are an error, missing ones take defaults."""
    return cls(**fields_from_record(cls, record))


def fields_from_record(cls: type[Any], record: Record) -> dict[str, Any]:
    """Return the values of fields from their record; unknown keys are an error."""
    values = dict(record)
    if unknown := sorted(values.keys() - _known(cast(Hashable, cls))):
        raise KeyError(unknown[0])
    for name, read in _readers(cast(Hashable, cls)):
        if name in values:
            values[name] = read(values[name])
    return values


def node_to_record(node: Any) -> Record:
    """Turn a node into a record that names its kind."""
    return {"kind": kind_of(node).value, **to_record(node)}


def node_from_record(record: Record) -> Node:
    """Build the node class that the record's kind names."""
    fields_ = {key: value for key, value in record.items() if key != "kind"}
    return from_record(NODE_TYPES[NodeKind(record["kind"])], fields_)


@cache
def _known(cls: Any) -> frozenset[str]:
    return frozenset(_names(cls))


@cache
def _readers(cls: Any) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """The fields that are something else in a record; a query reads thousands of rows, most of them plain."""
    hints = get_type_hints(cls)
    named = ((f.name, _reader(hints[f.name])) for f in fields(cls))
    return tuple((name, read) for name, read in named if read is not _same)


def _reader(hint: Any) -> Callable[[Any], Any]:
    if hint == Node:
        return node_from_record
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = _reader(next(arg for arg in args if arg is not type(None)))
        if inner is _same:
            return _same
        return lambda value: None if value is None else inner(value)
    if origin is tuple and Ellipsis not in args:
        readers = tuple(map(_reader, args))
        return lambda value: tuple(read(part) for read, part in zip(readers, value, strict=True))
    if origin is tuple:
        item = _reader(args[0])
        if item is _same:
            return tuple
        return lambda value: tuple(item(part) for part in value)
    if origin in (dict, Mapping):
        item = _reader(args[1])
        return _same if item is _same else lambda value: {key: item(part) for key, part in value.items()}
    if hint in (BBox, PageSize):
        return lambda value: hint(*value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    if is_dataclass(hint):
        return lambda value: from_record(cast(type[Any], hint), value)
    return _same


def _same(value: Any) -> Any:
    return value


_OBSERVED = (*OBSERVED_FIELDS, "state", "stale", "aliases")
_SCORES = ("score", "confidence", "structure_confidence", "ocr_conf")


def stable_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was observed, and round scores to 6 places; docs/reference/export.md says what stays."""
    if record.get("url") and (record.get("path") or record.get("file_path")):
        record = {**record, "url": None}  # it tells at which commit the file was read
    if "uses" in record:
        record = {**record, "uses": [{**term, "seen_at": None} for term in record["uses"]]}
    observed = () if record.get("kind") == NodeKind.ENTITY else _OBSERVED
    kept = {key: value for key, value in record.items() if key not in observed}
    return {
        key: round(value, 6) if key in _SCORES and isinstance(value, float) else value
        for key, value in kept.items()
    }
