"""A query, the evidence that answers it, and how many were asked (docs/reference/bundle.schema.json)."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from schemas.nodes import BBox, DateOrigin, PageSize
from schemas.uses import UseTerms


class SearchField(StrEnum):
    """What a chunk can be searched by."""

    TEXT = "text"
    HEADING = "heading"
    ANCHORS = "anchors"
    CAPTIONS = "captions"
    CODES = "codes"


FILTER_FIELDS = (
    "kind",
    "source",
    "doc",
    "doc_id",
    "doc_type",
    "domain",
    "status",
    "version",
    "lang",
    "template_type",
    "page_kind",
    "file_id",
    "page_no",
    "tool_names",
)
"""Chunk columns a filter may name; several values of one field mean any of them."""
DATE_FIELDS = ("last_modified",)
"""Chunk columns whose filter values are intervals `FROM/TO` of ISO 8601, the end excluded, `..` for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Keep chunks whose *field* equals one of *values* (a list column: holds one, a date: lies within one).

    `recency` is no column: its values are ages such as `90d`, counted back from the generation's `as_of`.
    """

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Leave out chunks that pass all of *where*, but for those that pass one of *unless*."""

    where: tuple[Filter, ...]
    unless: tuple[Filter, ...] = ()


Condition = Filter | LeftOut
"""What a search in a store may be bound to."""


class Hit(NamedTuple):
    """A chunk found by one field; higher scores are better, scores of two fields do not compare."""

    chunk_id: str
    doc: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool that the asker has in mind: inputs to be checked, and what it gave if it was run."""

    name: str
    inputs: dict[str, Any] | None = None
    result: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and how to answer it; `token_budget` counts encoder tokens of evidence.

    `rerank` is None where a cross-encoder shall order the best if there is one. `persona` is a line or two on
    who answers and in which tone; it changes no evidence. `version` is that of manuals with several: None and
    `latest` ask for the latest of each document, `all` for every one; `left_out` is what that leaves out, as
    the retriever of a generation fills it in. `only_named` asks for the documents that the text names by id,
    and for what typed edges join to them. `by_page` asks for pages, each at its best passage.
    """

    text: str
    filters: tuple[Filter, ...] = ()
    top_k: int = 10
    token_budget: int = 2500
    use_graph: bool = True
    rerank: bool | None = False
    persona: str | None = None
    tool: ToolUse | None = None
    version: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    only_named: bool = False
    by_page: bool = False

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All that a chunk must meet to be evidence."""
        return (*self.filters, *self.left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfLocation:
    """Where a passage stands in a PDF; points, origin top-left, rotation 0, `page` from 1."""

    file_id: str
    page: int
    bbox: BBox
    page_size: PageSize


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The parts of a score, each in [0, 1]."""

    text: float = 0.0
    graph: float = 0.0
    anchor: float = 0.0
    authority: float = 0.0
    freshness: float = 0.0


class Origin(StrEnum):
    """Which store found a piece of evidence."""

    VECTOR = "vector"
    GRAPH = "graph"
    BOTH = "both"


class Derivation(StrEnum):
    """Whether the evidence says it, or an edge was inferred."""

    STATED = "stated"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One edge on the way from a seed to a piece of evidence, as it points, and what its ends are called."""

    src: str
    kind: str
    dst: str
    chunk: str | None = None
    src_name: str | None = None
    dst_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceVersion:
    """Of which version of its manual a passage is: `also_in` are others that say the same word for word,
    `not_in` are newer ones that have no such document; both newest first.
    """

    family: str
    version: str
    also_in: tuple[str, ...] = ()
    not_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One passage of the answer, with all that a citation needs; `stale` and the date are its chunk's.

    `logit` is what a reranker said, None where none was asked. Where `entity` names one, the text is made of
    edges of the graph that lead to it, and the passage is the one behind the last of them. `versions` is None
    for what belongs to no manual with versions. `uses` is what the site says that the document may be used
    for.
    """

    S: str
    chunk_id: str
    doc: str
    doc_id: str | None
    kind: str
    url: str | None
    fragment: str | None
    file_path: str | None
    section: str | None
    pdf: PdfLocation | None
    heading_path: tuple[str, ...]
    breadcrumbs: tuple[str, ...]
    text: str
    offsets: tuple[int, int]
    score: float
    scores: Scores
    source: Origin
    derivation: Derivation
    role: str
    path: tuple[PathStep, ...] = ()
    logit: float | None = None
    last_modified: str | None = None
    last_modified_origin: DateOrigin | None = None
    stale: bool = False
    entity: str | None = None
    text_fragment: str | None = None
    versions: EvidenceVersion | None = None
    uses: UseTerms = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What an answer prints for an `[S#]`; what else it has is its evidence's."""

    S: str
    chunk_id: str
    url: str | None
    fragment: str | None
    file_path: str | None
    section: str | None
    pdf: PdfLocation | None
    derivation: Derivation = Derivation.STATED
    last_modified: str | None = None
    last_modified_origin: DateOrigin | None = None
    entity: str | None = None
    text_fragment: str | None = None
    uses: UseTerms = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A parent document shown for orientation; not evidence."""

    node: str
    breadcrumbs: tuple[str, ...]
    gist: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationHop:
    """One edge of a chain, as it points, what its ends are called, and the passage behind it.

    `predicate` is the relation that front matter states under a key of its own. `S` is the label of the
    evidence made of the passage, None where the token budget had no room for it.
    """

    src: str
    kind: str
    dst: str
    src_name: str
    dst_name: str
    src_doc_id: str | None = None
    dst_doc_id: str | None = None
    predicate: str | None = None
    S: str | None = None
    chunk_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How things that a question names are joined: `text` says it, `labels` are of the evidence behind it.

    `chains` are the paths in one line each, `hops` their edges in order. Both are empty where nothing joins
    the things, which `text` says then. `leads`: relations are what the question is after.
    """

    text: str
    labels: tuple[str, ...]
    chains: tuple[str, ...] = ()
    hops: tuple[RelationHop, ...] = ()
    leads: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlan:
    """The tool a question is about, and whether it could be called with the inputs at hand.

    `tool_id` is None where the index knows no such tool. `valid` is None where no inputs were given or no
    schema says what they must be; `problems` are in words. `defined_by` is the label of the passage that
    defines what the tool does, None where no evidence does.
    """

    name: str
    tool_id: str | None = None
    tool_type: str | None = None
    description: str = ""
    endpoints: tuple[str, ...] = ()
    input_schema: dict[str, Any] | None = None
    inputs: dict[str, Any] | None = None
    valid: bool | None = None
    problems: tuple[str, ...] = ()
    defined_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBundle:
    """Everything an answerer is given. Holds no clock: `as_of` is the generation's."""

    version: int
    query: str
    route: str
    generation: int
    as_of: str
    degraded: tuple[str, ...]
    persona: str | None
    summaries: tuple[Summary, ...]
    evidence: tuple[Evidence, ...]
    citations: tuple[Citation, ...]
    tool_plan: ToolPlan | None = None
    tool_result: dict[str, Any] | None = None
    relations: tuple[Relation, ...] = ()
    diagnostics: dict[str, Any] = field(default_factory=dict)


BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0)
"""Upper bounds in seconds; a language model may take a minute to word an answer."""


class Interface(StrEnum):
    """By what a question was asked; logs and metrics name it `door`."""

    QUERY = "query"
    ASK = "ask"
    RETRIEVAL = "retrieval"  # python -m retrieval
    MCP = "mcp"  # over stdin and stdout
    SERVE = "serve"  # over HTTP, in the pages and at /mcp


@dataclass(frozen=True, slots=True)
class Durations:
    """How many answers took how long: a number for each of BUCKETS and one for what is longer."""

    counts: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)
    seconds: float = 0.0

    def plus(self, seconds: float) -> "Durations":
        """Count one more."""
        place = bisect_left(BUCKETS, seconds)
        counts = tuple(number + (at == place) for at, number in enumerate(self.counts))
        return Durations(counts, self.seconds + seconds)


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """Questions by interface and outcome, and how long their answers took by interface."""

    questions: Mapping[tuple[str, str], int] = field(default_factory=dict)
    durations: Mapping[str, Durations] = field(default_factory=dict)
