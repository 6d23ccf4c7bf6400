"""What goes over the wire: the body of a question, and the JSON Schemas of the answers."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, WithJsonSchema

from indexes.wiring import Readers
from retrieval.as_of import find_generation
from retrieval.question import query as queries
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
from schemas.changes import Feed
from schemas.errors import ConfigError, FilterError
from schemas.evidence import DATE_FIELDS, ContextBundle, Query, ToolUse
from schemas.formats import NAME
from schemas.nodes import Chunk
from schemas.uses import Use
from sitegraph.actions.blame import DatedSentence, PassageVersion
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem, unprocessable

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


ALLOWED = "Answer only from documents whose sites refuse none of these uses."
Uses = Annotated[list[Annotated[Use, Field(strict=False)]], Field(min_length=1)]


class Narrowed(BaseModel):
    """What may be asked of an index, and of which documents; `allow` narrows what the asker may see."""

    model_config = ConfigDict(extra="forbid", strict=True)

    allow: Uses | None = Field(default=None, description=ALLOWED)


class ToolRequest(BaseModel):
    """A tool that the asker has in mind: inputs to be checked, and what it gave if it was run."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=TOOL_NAME_MAX, pattern=r"\S")
    inputs: dict[str, Any] | None = None
    result: dict[str, Any] | None = None


class RetrieveRequest(Narrowed):
    """A question; `filters` are those of the command line, several values of one key mean any of them.

    `rerank` null: a cross-encoder orders the best where it is installed. `as_of`: the number of a generation
    that is kept, or a month, a day or a time; the index is read as it was then. `version`: of manuals with
    several versions that one, such as `15` or `postgresql=15`, `latest` (the default) or `all`. `by`: `page`
    lists pages by all that each says, at its best passage.
    """

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
    by: queries.Unit = "passage"

    def tool_use(self) -> ToolUse | None:
        """Return the tool as a query contains it."""
        return ToolUse(**self.tool.model_dump()) if self.tool else None


_REF = "#/components/schemas/{model}"


def reference(name: str) -> dict[str, str]:
    """Point to a schema among the components."""
    return {"$ref": _REF.format(model=name)}


def record_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of *properties* and no other."""
    return _closed({"type": "object", "properties": properties})


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """An answer has every field, those with a default too, and no other."""
    if schema.get("type") != "object" or "properties" not in schema:
        return schema
    return {**schema, "required": list(schema["properties"]), "additionalProperties": False}


def _numbers(length: int) -> dict[str, Any]:
    """A box or size, which a record has as a list of numbers."""
    return {"type": "array", "items": {"type": "number"}, "minItems": length, "maxItems": length}


_LISTS = {"BBox": _numbers(4), "PageSize": _numbers(2)}


def _schemas_of(cls: type[Any], references: str) -> dict[str, Any]:
    """Return the schemas of a record and of all that it refers to, by name."""
    schema = TypeAdapter(cls).json_schema(mode="serialization", ref_template=references)
    found = {**schema.pop("$defs", {}), cls.__name__: schema}
    return {name: _LISTS.get(name) or _closed(found[name]) for name in sorted(found)}


def answer_schemas() -> dict[str, Any]:
    """Return the schema of each answer by name, for the components of OpenAPI; answers are records."""
    found = {**_LISTS, **_OWN}
    for cls in (ContextBundle, Chunk, Feed, DatedSentence, PassageVersion):
        found |= _schemas_of(cls, _REF)
    return dict(sorted(found.items()))


def whole_schema(cls: type[Any]) -> dict[str, Any]:
    """Return the schema of an answer with all that it refers to."""
    found = _schemas_of(cls, "#/$defs/{model}")
    whole = found.pop(cls.__name__)
    return {**whole, **({"$defs": found} if found else {})}


_TEXT, _NUMBER = {"type": "string"}, {"type": "integer", "minimum": 0}

_OWN: dict[str, Any] = {
    "ChunkAnswer": record_of(generation=_NUMBER, citation=_TEXT, passage=_TEXT, chunk=reference("Chunk")),
    "DocumentAnswer": record_of(
        generation=_NUMBER,
        document={"type": "object", "required": ["id", "kind", "source", "title"]},
        total=_NUMBER,
        chunks=list_of(reference("ChunkPlace")),
    ),
    "ChunkPlace": record_of(
        id=_TEXT,
        ordinal=_NUMBER,
        heading_path=list_of(_TEXT),
        citation=_TEXT,
        token_count=_NUMBER,
    ),
    "HistoryAnswer": record_of(
        generation=_NUMBER,
        chunk=_TEXT,
        citation=_TEXT,
        heading_path=list_of(_TEXT),
        changed_at={"type": ["string", "null"]},
        sentences=list_of(reference("DatedSentence")),
        versions=list_of(reference("PassageVersion")),
    ),
    "Ready": record_of(generation=_NUMBER, as_of=_TEXT, degraded=list_of(_TEXT)),
    "Alive": record_of(status={"const": "ok"}),
    "Problem": record_of(type=_TEXT, title=_TEXT, status=_NUMBER, detail=_TEXT, error=_TEXT),
}


def build_question(body: RetrieveRequest) -> Query:
    """Return the query that a body asks.

    Raises: HttpProblem: a filter or a value is wrong.
    """
    try:
        return queries.build_query(
            body.query,
            filters=queries.filters_from_record(body.filters),
            top_k=body.top_k,
            token_budget=body.token_budget,
            use_graph=body.use_graph,
            rerank=body.rerank,
            persona=body.persona,
            tool=body.tool_use(),
            version=body.version,
            by=body.by,
        )
    except (ConfigError, FilterError) as error:
        raise unprocessable(error) from error


def at(parts: Parts, as_of: str | int | None) -> str | None:
    """Return the number of the kept generation that *as_of* means; None for the current one.

    Raises: HttpProblem: nothing of then is kept; what reading the index raises.
    """
    if as_of is None:
        return None
    root = parts.retriever.read(_root)  # from here on it is the time that leads nowhere
    try:
        return str(find_generation(root, str(as_of)))
    except ConfigError as error:
        raise HttpProblem(404, error.message, "NotFound") from error


def _root(readers: Readers) -> Path:
    return readers.index
