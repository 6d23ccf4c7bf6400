"""From how an index is to metrics: a pure function of plain data and the time."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import accumulate
from typing import Any

from runtime.telemetry import catalogue
from runtime.telemetry.catalogue import INDEX_METRICS, MetricDefinition
from schemas.documents import DocumentState, Outcome
from schemas.evidence import Durations, UsageCounts
from schemas.health import IndexHealth, LastRun, SourceStatus

RUN_STATES = ("finished", "refused", "failed", "stopped", "running", "interrupted")
PERCENTILES = (50, 95)

_KNOWN_STATUS = frozenset(int(status) for status in HTTPStatus)
_CHANGES = ("added", "removed", "unchanged", "embedded")
_LOOKS = ("scheduled", "fetched", "not_modified")
"""How documents were looked at; the other counts of a report are outcomes."""

Labels = tuple[str, ...]
Told = tuple[MetricDefinition, Labels, float]


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """A metric with its samples, of a histogram as `Durations`; the first label value is the index folder."""

    definition: MetricDefinition
    samples: tuple[tuple[Labels, float | Durations], ...]


def index_families(health: IndexHealth, *, now: datetime) -> tuple[MetricFamily, ...]:
    """Return the metrics of an index at *now*, in the catalogue's order; none without a sample."""
    told: dict[MetricDefinition, list[tuple[Labels, float]]] = {}
    for definition, labels, value in _all(health, now):
        told.setdefault(definition, []).append(((health.index, *labels), value))
    return tuple(MetricFamily(one, tuple(told[one])) for one in INDEX_METRICS if one in told)


def usage_families(index: str, usage: UsageCounts) -> tuple[MetricFamily, ...]:
    """Return the metrics of an index's usage log; none without a question."""
    questions = tuple((((index, *key), float(number)) for key, number in sorted(usage.questions.items())))
    durations = tuple(((index, door), one) for door, one in sorted(usage.durations.items()))
    both = ((catalogue.USAGE_QUESTIONS, questions), (catalogue.USAGE_SECONDS, durations))
    return tuple(MetricFamily(definition, samples) for definition, samples in both if samples)


def _all(health: IndexHealth, now: datetime) -> Iterator[Told]:
    known = health.problem is None
    yield catalogue.INDEX_UP, (), float(known)
    if health.generation is not None:
        yield catalogue.GENERATION, (), health.generation
        yield from _time(catalogue.LAST_PUBLISH, (), health.published_at)
        yield catalogue.HELD, (), float(health.held_since is not None)
    for table, one in sorted(health.tables.items()):
        yield catalogue.TABLE_ROWS, (table,), one.rows
        yield catalogue.UNINDEXED_ROWS, (table,), one.unindexed_rows
        yield catalogue.FRAGMENTS, (table,), one.fragments
        yield catalogue.SMALL_FRAGMENTS, (table,), one.small_fragments
    for name, source in sorted(health.sources.items()):
        for table, rows in sorted(source.rows.items()):
            yield catalogue.ROWS, (name, table), rows
        if name and known:
            yield from _documents(name, source, now)
        if name:
            yield from _run(name, source)


def _documents(name: str, source: SourceStatus, now: datetime) -> Iterator[Told]:
    for state in (*DocumentState, Outcome.DEAD_LINK):
        yield catalogue.DOCUMENTS, (name, state.value), source.states.get(state.value, 0)
    yield catalogue.DUE, (name,), source.due
    for reason, documents in sorted(count_reasons(source.failed).items()):
        yield catalogue.FAILED, (name, reason), documents
    if source.slo is not None:
        yield catalogue.SLO, (name,), source.slo
    ages = content_ages(source.confirmed, now=now)
    if not ages:
        return
    for percent in PERCENTILES:
        yield catalogue.CONTENT_AGE, (name, str(percent)), percentile(ages, percent)
    if source.slo is not None:
        yield catalogue.FRESH_RATIO, (name,), share_within(ages, source.slo)


def _run(name: str, source: SourceStatus) -> Iterator[Told]:
    yield from _time(catalogue.RUN_SUCCESS, (name,), source.last_success)
    if source.last_run is None:
        return
    for state in RUN_STATES:
        yield catalogue.RUN_STATE, (name, state), float(state == source.last_run.state)
    yield from _time(catalogue.RUN_START, (name,), source.last_run.started_at)
    yield from _time(catalogue.RUN_END, (name,), source.last_run.finished_at)
    yield catalogue.RUN_PROBLEMS, (name,), len(source.last_run.report.get("problems", ()))
    yield from _report(name, source.last_run)


def _report(name: str, last: LastRun) -> Iterator[Told]:
    """What a run did that came to its end; of any other the report says only why it did not."""
    report = last.report
    if "documents" not in report:
        return
    for outcome, number in report["documents"].items():
        if outcome not in _LOOKS:
            yield catalogue.RUN_DOCUMENTS, (name, outcome), number
    for change in _CHANGES:
        yield catalogue.RUN_CHUNKS, (name, change), report.get("chunks", {}).get(change, 0)
    for stage, seconds in report.get("stages", {}).items():
        yield catalogue.RUN_STAGE, (name, stage), seconds
    http = report.get("http", {})
    for status, number in sorted(_by_status(http.get("status", {})).items()):
        yield catalogue.RUN_RESPONSES, (name, status), number
    yield catalogue.RUN_BYTES, (name,), http.get("bytes", 0)
    yield from _time(catalogue.LOGIN_EXPIRES, (name,), report.get("login", {}).get("expires_at"))
    yield from _cost(name, report.get("cost", {}))
    yield from _completeness(name, report.get("completeness", {}))


def _completeness(name: str, completeness: Mapping[str, Any]) -> Iterator[Told]:
    """How complete a source is; reports of older versions say nothing of it."""
    if completeness.get("share") is not None:
        yield catalogue.COMPLETENESS, (name,), completeness["share"]
    for reason, addresses in completeness.get("reasons", {}).items():
        yield catalogue.NOT_INDEXED, (name, reason), addresses
    for bound in ("likely", "low", "high"):
        if (pages := completeness.get("unknown", {}).get(bound)) is not None:
            yield catalogue.UNKNOWN_PAGES, (name, bound), pages


def _cost(name: str, cost: Mapping[str, Any]) -> Iterator[Told]:
    """What a run cost; reports of older versions say nothing of it."""
    for cause, spent in cost.get("causes", {}).items():
        yield catalogue.RUN_CPU, (name, cause), spent["cpu"]
        for direction in ("read", "written"):
            yield catalogue.RUN_IO, (name, cause, direction), spent[direction]
    for table, rows in cost.get("rows", {}).items():
        yield catalogue.RUN_ROWS, (name, table), rows["touched"]


def _time(definition: MetricDefinition, labels: Labels, at: str | None) -> Iterator[Told]:
    if at is not None:
        yield definition, labels, timestamp(at)


def timestamp(at: str) -> float:
    """Return seconds since 1970 of a time in ISO 8601, UTC where it does not say otherwise."""
    time = datetime.fromisoformat(at)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def content_ages(confirmed: Iterable[tuple[str, int]], *, now: datetime) -> tuple[tuple[float, int], ...]:
    """Return ages in seconds with their number of documents, youngest first; what lies ahead is of age 0."""
    moment = now.timestamp()
    return tuple(sorted((max(0.0, moment - timestamp(at)), documents) for at, documents in confirmed))


def percentile(ages: Sequence[tuple[float, int]], percent: int) -> float:
    """Return the age that at least so many of a hundred documents do not exceed (nearest rank).

    Source: Hyndman and Fan (1996), "Sample Quantiles in Statistical Packages", definition 1.
    """
    so_far = list(accumulate(documents for _, documents in ages))
    return ages[bisect_left(so_far, math.ceil(percent * so_far[-1] / 100))][0]


def share_within(ages: Iterable[tuple[float, int]], seconds: float) -> float:
    """Return the share of documents that are at most so old."""
    total = within = 0
    for age, documents in ages:
        total += documents
        within += documents if age <= seconds else 0
    return within / total


def count_reasons(failed: Mapping[int | None, int]) -> Counter[str]:
    """Count failed documents by reason, of which there are few.

    `http_503` is what the server answered, `unreachable` that nothing did, and `unreadable` that what came
    could not be read or was refused.
    """
    counts: Counter[str] = Counter()
    for status, documents in failed.items():
        counts[_reason(status)] += documents
    return counts


def _reason(status: int | None) -> str:
    if status is None:
        return "unreachable"
    return "unreadable" if status < 400 else f"http_{_known(status)}"


def _by_status(statuses: Mapping[str, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for status, number in statuses.items():
        counts[_known(int(status))] += number
    return counts


def _known(status: int) -> str:
    """The number of a registered status; any other, which a server may make up, as one."""
    return str(status) if status in _KNOWN_STATUS else "other"
