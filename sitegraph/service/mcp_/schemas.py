"""JSON Schemas of what the tools give; those of HTTP, each whole in itself."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter

from sitegraph.graph_view.shown import ShownGraph
from sitegraph.service.contract import answer_schemas

_HTTP, _OWN = "#/components/schemas/", "#/$defs/"
_TEXT, _NUMBER, _YES = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}
_MAYBE = {"type": ["string", "null"]}


def whole_schema(name: str) -> dict[str, Any]:
    """Return the schema of an answer over HTTP with all that it refers to (`ContextBundle`)."""
    every = answer_schemas()
    needed = _reachable(name, every) - {name}
    defined = {one: _rooted(every[one]) for one in sorted(needed)}
    return {**_rooted(every[name]), **({"$defs": defined} if defined else {})}


def _reachable(name: str, every: dict[str, Any]) -> set[str]:
    found, new = set[str](), {name}
    while new:
        found |= new
        new = {one for known in new for one in _references(every[known])} - found
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(target := schema.get("$ref"), str):
            yield target.removeprefix(_HTTP)
        schema = list(schema.values())
    if isinstance(schema, list):
        for one in schema:
            yield from _references(one)


def _rooted(schema: Any) -> Any:
    if isinstance(schema, str):
        return re.sub(f"^{_HTTP}", _OWN, schema)
    if isinstance(schema, dict):
        return {key: _rooted(value) for key, value in schema.items()}
    return [_rooted(one) for one in schema] if isinstance(schema, list) else schema


def record_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of *properties* and no other."""
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


SEARCH = record_of(results=list_of(record_of(id=_TEXT, title=_TEXT, url=_TEXT)))
FETCH = record_of(
    id=_TEXT,
    title=_TEXT,
    text=_TEXT,
    url=_TEXT,
    metadata={"type": "object", "additionalProperties": _TEXT},
)
CITATION = record_of(
    id=_TEXT,
    title=_TEXT,
    url=_TEXT,
    citation=_TEXT,
    generation=_NUMBER,
    page=_YES,
    note=_MAYBE,
    text=_TEXT,
)
VERIFIED = record_of(
    generation=_NUMBER,
    not_found=_YES,
    text=_TEXT,
    kept=list_of(record_of(text=_TEXT, S=_TEXT, chunk_id=_TEXT, citation=_TEXT)),
    dropped=list_of(record_of(text=_TEXT, S=_MAYBE, reason=_TEXT)),
    unanswered=list_of(_TEXT),
)
SOURCES = record_of(
    generation=_NUMBER,
    as_of=_TEXT,
    sources=list_of(
        record_of(
            name=_TEXT,
            documents={"type": "object", "additionalProperties": _NUMBER},
            rows={"type": "object"},
            last_run={"type": ["object", "null"]},
        )
    ),
)


def neighbourhood_schema() -> dict[str, Any]:
    """Return the schema of a neighbourhood (docs/reference/neighbourhood.schema.json)."""
    schema = TypeAdapter(ShownGraph).json_schema(mode="validation")
    shown = {name: _closed(one) for name, one in schema.pop("$defs").items()}
    return {**_closed(schema), "$defs": shown}


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A record has no other fields; those that a later version added may be missing."""
    return {**schema, "additionalProperties": False} if "properties" in schema else schema


def changes_schema() -> dict[str, Any]:
    """Return the schema of the change feed, of which entries may be left out."""
    schema = whole_schema("Feed")
    schema["properties"] = {**schema["properties"], "left_out": _NUMBER}
    schema["required"] = [*schema["required"], "left_out"]
    return schema
