"""What goes over the wire: the body of a question, and the JSON Schemas of the answers."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, WithJsonSchema

from retrieval.question.dates import RECENCY
from retrieval.question.query import (
    FILTER_ALIASES,
    FILTER_KEYS,
    PERSONA_MAX,
    TEXT_MAX,
    TOKEN_BUDGET,
    TOKEN_BUDGET_MAX,
    TOKEN_BUDGET_MIN,
    TOOL_NAME_MAX,
    TOP_K,
    TOP_K_MAX,
    VERSION_MAX,
)
from schemas.evidence import DATE_FIELDS, ContextBundle, ToolUse
from schemas.feed import Feed
from schemas.formats import NAME
from schemas.nodes import Chunk
from sitegraph.service.viewer.blame import DatedSentence, PassageVersion

VERSION = "1"
CHUNK_ID = r"^chunk:[a-z2-7]{26}$"
DOCUMENT_ID = r"^(page|pdfdoc):[a-z2-7]{26}$"
AS_OF = r"^([0-9]{1,16}|[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9:.]{5,15}([zZ]|[ +-][0-9:]{4,5})?)?)?)$"
"""The number of a generation, a month, a day or a time."""
NUMBER_MAX = 2**53 - 1
"""The largest whole number that every JSON reader keeps (RFC 8259, 6)."""

_PAGE_NO_MAX = 999_999_999
_VALUE_MAX = 1000
_ONE_LINE = r"^[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]*$"


def _whole(value: Any) -> Any:
    """Take 5.0 for 5, as JSON Schema does: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
Scalar = Annotated[str, Field(max_length=_VALUE_MAX)] | Whole
Time = (
    Annotated[str, Field(pattern=AS_OF)] | Annotated[int, Field(ge=0, le=NUMBER_MAX), BeforeValidator(_whole)]
)


_DATE = "[1-9][0-9]{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])([T ].+)?)?)?"
"""A year, a month, a day or a time."""


def _filter_schema() -> dict[str, Any]:
    """Return the keys that a filter may have, and what may stand under each."""
    keys = {key: _several(_value(FILTER_ALIASES.get(key, key))) for key in FILTER_KEYS}
    return {"type": "object", "properties": keys, "additionalProperties": False, "default": {}}


def _value(field: str) -> list[dict[str, Any]]:
    if field == "kind":
        return [{"type": "string", "pattern": f"^{NAME.pattern}$"}]
    if field == "page_no":
        digits = {"type": "string", "pattern": "^[1-9][0-9]{0,8}$"}
        return [{"type": "integer", "minimum": 1, "maximum": _PAGE_NO_MAX}, digits]
    if field == RECENCY:
        return [{"type": "string", "pattern": "^[1-9][0-9]{0,4}d$"}]
    if field in DATE_FIELDS:
        bound, span = f"(>=|<=|>|<)?{_DATE}", rf"{_DATE}\.\.({_DATE})?|\.\.{_DATE}"
        return [{"type": "string", "pattern": f"^({bound}|{span})$"}]
    return [{"type": "string", "minLength": 1, "maxLength": _VALUE_MAX}, {"type": "integer"}]


def _several(values: list[dict[str, Any]]) -> dict[str, Any]:
    return {"anyOf": [*values, {"type": "array", "minItems": 1, "items": {"anyOf": values}}]}


Filters = Annotated[dict[str, Scalar | list[Scalar]], WithJsonSchema(_filter_schema())]


class ToolRequest(BaseModel):
    """A tool that the asker has in mind: inputs to be checked, and what it gave if it was run."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=TOOL_NAME_MAX, pattern=r"\S")
    inputs: dict[str, Any] | None = None
    result: dict[str, Any] | None = None


class RetrieveRequest(BaseModel):
    """A question; `filters` are those of the command line, several values of one key mean any of them.

    `rerank` null: a cross-encoder orders the best where it is installed. `as_of`: the number of a generation
    that is kept, or a month, a day or a time; the index is read as it was then. `version`: of manuals with
    several versions that one, such as `15` or `postgresql=15`, `latest` (the default) or `all`.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(min_length=1, max_length=TEXT_MAX, pattern=r"\S")
    filters: Filters = {}
    top_k: Whole = Field(default=TOP_K, ge=1, le=TOP_K_MAX)
    token_budget: Whole = Field(default=TOKEN_BUDGET, ge=TOKEN_BUDGET_MIN, le=TOKEN_BUDGET_MAX)
    use_graph: bool = True
    rerank: bool | None = None
    persona: str | None = Field(default=None, max_length=PERSONA_MAX, pattern=_ONE_LINE)
    tool: ToolRequest | None = None
    as_of: Time | None = None
    version: str | None = Field(default=None, min_length=1, max_length=VERSION_MAX, pattern=r"\S")

    def tool_use(self) -> ToolUse | None:
        """Return the tool as a query contains it."""
        return ToolUse(**self.tool.model_dump()) if self.tool else None


def answer_schemas() -> dict[str, Any]:
    """Return the schema of each answer by name, for the components of OpenAPI; answers are records."""
    found: dict[str, Any] = {}
    for cls in (ContextBundle, Chunk, Feed, DatedSentence, PassageVersion):
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
    "HistoryAnswer": _object(
        generation=_NUMBER,
        chunk=_TEXT,
        citation=_TEXT,
        heading_path={"type": "array", "items": _TEXT},
        changed_at={"type": ["string", "null"]},
        sentences={"type": "array", "items": reference("DatedSentence")},
        versions={"type": "array", "items": reference("PassageVersion")},
    ),
    "Ready": _object(generation=_NUMBER, as_of=_TEXT, degraded={"type": "array", "items": _TEXT}),
    "Alive": _object(status={"const": "ok"}),
    "Problem": _object(type=_TEXT, title=_TEXT, status=_NUMBER, detail=_TEXT, error=_TEXT),
}
