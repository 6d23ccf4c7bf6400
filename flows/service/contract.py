"""What goes over the wire: the body of a question, and the JSON Schemas of the answers."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from retrieval.query import TEXT_MAX, TOKEN_BUDGET_MAX, TOKEN_BUDGET_MIN, TOP_K_MAX
from schemas.evidence import ContextBundle
from schemas.feed import Feed
from schemas.nodes import Chunk

VERSION = "1"
CHUNK_ID = r"^chunk:[a-z2-7]{26}$"
DOCUMENT_ID = r"^(page|pdfdoc):[a-z2-7]{26}$"
NUMBER_MAX = 2**53 - 1
"""The largest whole number that every JSON reader keeps (RFC 8259, 6)."""

_VALUES_MAX = 100

Scalar = str | int


class RetrieveRequest(BaseModel):
    """A question; `filters` are those of the command line, several values of one key mean any of them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(min_length=1, max_length=TEXT_MAX, pattern=r"\S")
    filters: dict[str, Scalar | list[Scalar]] = Field(default={}, max_length=_VALUES_MAX)
    top_k: int = Field(default=10, ge=1, le=TOP_K_MAX)
    token_budget: int = Field(default=2500, ge=TOKEN_BUDGET_MIN, le=TOKEN_BUDGET_MAX)
    use_graph: bool = True
    rerank: bool = False


def answer_schemas() -> dict[str, Any]:
    """Give the schema of each answer by name, for the components of OpenAPI; answers are records."""
    found: dict[str, Any] = {}
    for cls in (ContextBundle, Chunk, Feed):
        schema = TypeAdapter(cls).json_schema(mode="serialization", ref_template=_REF)
        found |= schema.pop("$defs", {})
        found[cls.__name__] = schema
    found |= {"BBox": _numbers(4), "PageSize": _numbers(2), **_OWN}
    return {name: _closed(found[name]) for name in sorted(found)}


_REF = "#/components/schemas/{model}"


def reference(name: str) -> dict[str, str]:
    """Point to a schema among the components."""
    return {"$ref": _REF.format(model=name)}


def _numbers(length: int) -> dict[str, Any]:
    """A box or size, which a record has as a list of numbers."""
    return {"type": "array", "items": {"type": "number"}, "minItems": length, "maxItems": length}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """An answer has every field, those with a default too, and no other."""
    if schema.get("type") != "object" or "properties" not in schema:
        return schema
    return {**schema, "required": list(schema["properties"]), "additionalProperties": False}


_TEXT, _NUMBER = {"type": "string"}, {"type": "integer", "minimum": 0}

_OWN: dict[str, Any] = {
    "ChunkAnswer": _object(generation=_NUMBER, citation=_TEXT, passage=_TEXT, chunk=reference("Chunk")),
    "DocumentAnswer": _object(
        generation=_NUMBER,
        document={"type": "object", "required": ["id", "kind", "source", "title"]},
        total=_NUMBER,
        chunks={"type": "array", "items": reference("ChunkPlace")},
    ),
    "ChunkPlace": _object(
        id=_TEXT,
        ordinal=_NUMBER,
        heading_path={"type": "array", "items": _TEXT},
        citation=_TEXT,
        token_count=_NUMBER,
    ),
    "Ready": _object(generation=_NUMBER, as_of=_TEXT, degraded={"type": "array", "items": _TEXT}),
    "Alive": _object(status={"const": "ok"}),
    "Problem": _object(type=_TEXT, title=_TEXT, status=_NUMBER, detail=_TEXT, error=_TEXT),
}
