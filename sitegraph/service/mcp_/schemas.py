"""JSON Schemas of what the tools are called with and give; bounds are part of what clients see."""

from typing import Annotated, Any

from pydantic import Field, TypeAdapter, model_validator

from retrieval.question.query import TEXT_MAX
from schemas.changes import Feed
from schemas.edges import EdgeKind
from sitegraph.actions.neighbourhood import ShownGraph
from sitegraph.service.contract import CHUNK_ID, NUMBER_MAX, Narrowed, Whole, list_of, record_of, whole_schema

_TEXT, _NUMBER, _YES = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}
_MAYBE = {"type": ["string", "null"]}


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
    schema = whole_schema(Feed)
    schema["properties"] = {**schema["properties"], "left_out": _NUMBER}
    schema["required"] = [*schema["required"], "left_out"]
    return schema


ITEM = r"^(chunk|page|pdfdoc):[a-z2-7]{26}$"
NAME_MAX = 2000
HOPS_MAX, NODES_MAX = 3, 200
ENTRIES_MAX = 1000
ANSWER_MAX, EVIDENCE_MAX = 4000, 12
"""The cross-encoder reads every sentence with every chunk, some milliseconds each."""

_Text = Annotated[str, Field(min_length=1, max_length=TEXT_MAX, pattern=r"\S")]


class SearchArguments(Narrowed):
    """A question, or words to look for."""

    query: _Text = Field(description="A question, or words to look for.")


class FetchArguments(Narrowed):
    """The id of something that a tool named."""

    id: str = Field(pattern=ITEM, description="Id of a search result, or of a document (page:…, pdfdoc:…).")


class CitationArguments(Narrowed):
    """The id of a chunk."""

    id: str = Field(pattern=CHUNK_ID, description="Id of a chunk.")


class NeighbourhoodArguments(Narrowed):
    """Where to begin, and how far to go."""

    node: str = Field(
        min_length=1,
        max_length=NAME_MAX,
        description="Id of a node, a document's own id such as GOV-0017, or the URL of a document.",
    )
    hops: Whole = Field(default=1, ge=0, le=HOPS_MAX, description="Number of edges from the node.")
    limit: Whole = Field(default=40, ge=1, le=NODES_MAX, description="Most nodes to show.")
    kinds: list[str] = Field(
        default=[],
        max_length=len(EdgeKind),
        description=f"Follow only edges of these kinds: {', '.join(sorted(EdgeKind))}.",
    )

    def edge_kinds(self) -> tuple[EdgeKind, ...]:
        """Return the kinds; raises ValueError: there is no such kind."""
        return tuple(EdgeKind(kind) for kind in self.kinds)


class VerifyArguments(Narrowed):
    """An answer, and the evidence that it names: chunks, or a question whose evidence `retrieve` gives."""

    answer: str = Field(
        min_length=1, max_length=ANSWER_MAX, description="Sentences with labels of evidence: … [S1]."
    )
    chunk_ids: list[Annotated[str, Field(pattern=CHUNK_ID)]] | None = Field(
        default=None,
        min_length=1,
        max_length=EVIDENCE_MAX,
        description="The evidence: S1 is the first of these chunks.",
    )
    query: _Text | None = Field(
        default=None, description="In place of chunk_ids: the question that `retrieve` was asked."
    )

    @model_validator(mode="after")
    def _names_evidence(self) -> "VerifyArguments":
        if (self.chunk_ids is None) == (self.query is None):
            raise ValueError("give chunk_ids or query, one of them")
        return self


class ChangesArguments(Narrowed):
    """The generation that somebody has."""

    since: Whole = Field(ge=0, le=NUMBER_MAX, description="Generation that you have; 0 is the empty index.")
    until: Annotated[Whole, Field(ge=0, le=NUMBER_MAX)] | None = Field(
        default=None, description="Generation to stop at; by default the current one."
    )
    source: str | None = Field(default=None, max_length=200, description="Only changes of this source.")
    limit: Whole = Field(default=100, ge=1, le=ENTRIES_MAX, description="Most entries to list.")


class SourcesArguments(Narrowed):
    """Nothing of its own."""
