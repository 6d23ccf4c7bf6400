"""Every metric by name: what the manual lists, and what dashboard and alert rules may name.

Names follow prometheus.io/docs/practices/naming: the prefix of the program, base units, `_total` for
counters. Every label has few values: sources, tables, states, reasons. None contains a URL or a question.
"""

from dataclasses import dataclass
from enum import StrEnum


class MetricType(StrEnum):
    """How a metric moves."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """A metric: its name, what it says, its labels. Every metric has the label `index`, the index folder."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    type: MetricType = MetricType.GAUGE


def _of_source(name: str, told: str, *labels: str) -> MetricDefinition:
    return MetricDefinition(name, told, ("source", *labels))


def _of_table(name: str, told: str) -> MetricDefinition:
    return MetricDefinition(name, told, ("table",))


INDEX_UP = MetricDefinition(
    "sitegraph_index_up", "1 if index and ledger could be read, else 0: others may be missing then"
)
GENERATION = MetricDefinition("sitegraph_generation", "Number of the generation that readers see")
LAST_PUBLISH = MetricDefinition(
    "sitegraph_last_publish_timestamp_seconds", "When the generation that readers see was made"
)
HELD = MetricDefinition(
    "sitegraph_publishing_held",
    "1 while a rollback, or questions that lost their evidence, hold publishing, else 0",
)
ROWS = _of_source(
    "sitegraph_rows", "Rows of the generation that readers see; entities belong to no source", "table"
)
TABLE_ROWS = _of_table("sitegraph_lance_rows", "Rows of a LanceDB table")
UNINDEXED_ROWS = _of_table(
    "sitegraph_lance_unindexed_rows",
    "Rows that the search index which lacks most of them does not contain; searches read them one by one",
)
FRAGMENTS = _of_table("sitegraph_lance_fragments", "Files of rows of a LanceDB table")
SMALL_FRAGMENTS = _of_table("sitegraph_lance_small_fragments", "Those of them that a compaction would join")

DOCUMENTS = _of_source(
    "sitegraph_documents",
    "Known documents by the state in which they are; `dead_link`: nothing was ever found there",
    "state",
)
DUE = _of_source("sitegraph_documents_due", "Documents whose time to be looked at has come")
FAILED = _of_source(
    "sitegraph_documents_failed",
    "Documents that could not be fetched or read at the last look, by reason",
    "reason",
)
CONTENT_AGE = _of_source(
    "sitegraph_content_age_seconds",
    "Time since the source last confirmed what readers see: the median and the 95th percentile of documents",
    "percentile",
)
FRESH_RATIO = _of_source(
    "sitegraph_content_fresh_ratio", "Share of documents no older than the SLO of their source"
)
SLO = _of_source("sitegraph_freshness_slo_seconds", "Age that content may have, if the source file says")
LOGIN_EXPIRES = _of_source(
    "sitegraph_login_expires_timestamp_seconds",
    "When the login of the source ends, as the last finished run read it, where a cookie says so",
)

RUN_STATE = _of_source(
    "sitegraph_last_run_state", "1 for the state of the last run, 0 for the others", "state"
)
RUN_START = _of_source("sitegraph_last_run_start_timestamp_seconds", "When the last run began")
RUN_END = _of_source(
    "sitegraph_last_run_end_timestamp_seconds", "When the last run ended; none while it is open"
)
RUN_SUCCESS = _of_source(
    "sitegraph_last_success_timestamp_seconds",
    "When a run last came to its end, whether or not anything had changed",
)
RUN_DOCUMENTS = _of_source(
    "sitegraph_last_run_documents", "Documents of the last finished run by outcome", "outcome"
)
RUN_CHUNKS = _of_source(
    "sitegraph_last_run_chunks",
    "Chunks of the last finished run: added, removed, unchanged; texts embedded",
    "change",
)
RUN_STAGE = _of_source(
    "sitegraph_last_run_stage_seconds", "Time that a stage of the last finished run took", "stage"
)
RUN_RESPONSES = _of_source(
    "sitegraph_last_run_http_responses", "HTTP answers of the last finished run by status", "status"
)
RUN_BYTES = _of_source("sitegraph_last_run_received_bytes", "Bytes that the last finished run received")
RUN_CPU = _of_source(
    "sitegraph_last_run_cpu_seconds",
    "CPU time that the last finished run spent, by cause; together they are all of it",
    "cause",
)
RUN_IO = _of_source(
    "sitegraph_last_run_io_bytes",
    "Bytes that the last finished run read and wrote, cached or not, by cause",
    "cause",
    "direction",
)
RUN_ROWS = _of_source(
    "sitegraph_last_run_touched_rows",
    "Rows of a table that the last finished run wrote or removed; documents whose rows it decided again",
    "table",
)
RUN_PROBLEMS = _of_source("sitegraph_last_run_problems", "Problems that the last run lists")

COMPLETENESS = _of_source(
    "sitegraph_completeness_ratio",
    "Share of the pages that something names which are indexed, after the last finished run",
)
NOT_INDEXED = _of_source(
    "sitegraph_addresses_not_indexed",
    "Addresses that something names and that are not indexed, after the last finished run, by reason",
    "reason",
)
UNKNOWN_PAGES = _of_source(
    "sitegraph_unknown_pages",
    "Pages that nothing names, as estimated after the last finished run: `likely`, and the interval from "
    "`low` to `high`",
    "bound",
)

QUESTIONS = MetricDefinition(
    "sitegraph_questions_total", "Questions that serve was asked", ("outcome",), MetricType.COUNTER
)
QUESTION_SECONDS = MetricDefinition(
    "sitegraph_question_duration_seconds",
    "Time from the arrival of a question to the end of its answer; not of those turned away at once",
    (),
    MetricType.HISTOGRAM,
)
REQUESTS = MetricDefinition(
    "sitegraph_http_requests_total",
    "Requests that serve answered, by route pattern and status",
    ("method", "route", "status"),
    MetricType.COUNTER,
)

USAGE_QUESTIONS = MetricDefinition(
    "sitegraph_usage_questions_total",
    "Questions answered by other interfaces than serve, as the usage log has them",
    ("door", "outcome"),
    MetricType.COUNTER,
)
USAGE_SECONDS = MetricDefinition(
    "sitegraph_usage_question_duration_seconds",
    "Time that their answers took, the opening of the index not counted",
    ("door",),
    MetricType.HISTOGRAM,
)

INDEX_METRICS = (
    *(INDEX_UP, GENERATION, LAST_PUBLISH, HELD, ROWS),
    *(TABLE_ROWS, UNINDEXED_ROWS, FRAGMENTS, SMALL_FRAGMENTS),
    *(DOCUMENTS, DUE, FAILED, CONTENT_AGE, FRESH_RATIO, SLO, LOGIN_EXPIRES),
    *(RUN_STATE, RUN_START, RUN_END, RUN_SUCCESS, RUN_DOCUMENTS, RUN_CHUNKS, RUN_STAGE),
    *(RUN_RESPONSES, RUN_BYTES, RUN_CPU, RUN_IO, RUN_ROWS, RUN_PROBLEMS),
    *(COMPLETENESS, NOT_INDEXED, UNKNOWN_PAGES),
)
"""What the textfile and `serve` both say of an index."""

USAGE_METRICS = (USAGE_QUESTIONS, USAGE_SECONDS)
"""What both say of its usage log."""

SERVICE_METRICS = (QUESTIONS, QUESTION_SECONDS, REQUESTS)
"""What `serve` alone says."""

METRICS = (*INDEX_METRICS, *USAGE_METRICS, *SERVICE_METRICS)
