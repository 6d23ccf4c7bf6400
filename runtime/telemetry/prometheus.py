"""Metrics for Prometheus: what a scrape is answered, the textfile of an index, the counters of `serve`."""

import fcntl
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    write_to_textfile,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from runtime.telemetry import catalogue
from runtime.telemetry.catalogue import MetricDefinition, MetricType
from runtime.telemetry.families import MetricFamily
from schemas.evidence import BUCKETS, Durations
from schemas.health import LastRun


class _Families(Collector):
    """Gives a registry what is known already."""

    def __init__(self, families: Sequence[MetricFamily]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        for family in self._families:
            yield _metric(family)


def _metric(family: MetricFamily) -> Metric:
    definition = family.definition
    named = (definition.name, definition.help)
    labels = ("index", *definition.labels)
    histogram = HistogramMetricFamily(*named, labels=labels)
    counter = definition.type is MetricType.COUNTER
    plain = (CounterMetricFamily if counter else GaugeMetricFamily)(*named, labels=labels)
    for values, value in family.samples:
        if isinstance(value, Durations):
            histogram.add_metric(values, _buckets(value), value.seconds)
        else:
            plain.add_metric(values, value)
    return histogram if definition.type is MetricType.HISTOGRAM else plain


def _buckets(durations: Durations) -> list[tuple[str, float]]:
    """Sum up in each bucket what is in those before it. Source: prometheus.io/docs/concepts/metric_types."""
    bounds = (*map(str, BUCKETS), "+Inf")
    return list(zip(bounds, map(float, accumulate(durations.counts)), strict=True))


def render(
    families: Sequence[MetricFamily], *, accept: str, counted: CollectorRegistry | None, folder: str | None
) -> tuple[bytes, str]:
    """Return what a scrape is answered, and its content type, as the *accept* header asks.

    *counted* are the counters of this process; with a *folder*, those of all processes that count there.
    """
    encode, content_type = choose_encoder(accept)
    registry = CollectorRegistry()
    if folder is not None:
        MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
    elif counted is not None:
        registry = counted
    both = CollectorRegistry()
    both.register(_Families(families))
    both.register(_Collected(registry))
    return encode(both), content_type


class _Collected(Collector):
    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        yield from self._registry.collect()


def write_textfile(path: Path, families: Sequence[MetricFamily]) -> None:
    """Replace the file by rename: a run that is killed leaves the one before whole.

    Until then it has a name that node_exporter does not read. Raises: OSError: it cannot be written.
    """
    registry = CollectorRegistry()
    registry.register(_Families(families))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_to_textfile(str(path), registry)


WAIT = 10.0
"""Seconds to wait for another run that writes; then this one writes all the same, or nobody tells its end."""

_STEP = 0.05


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside the block, if it comes free in time. Source: flock(2).

    Who reads and writes under it never replaces a newer textfile by an older one. The folder itself is
    locked: that leaves no file. One that may not be read is not. Raises: OSError: it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        opened = os.open(folder, os.O_RDONLY)
    except PermissionError:
        yield
        return
    try:
        _lock(opened)
        yield
    finally:
        os.close(opened)


def _lock(opened: int) -> None:
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_STEP)
        except OSError:  # a shared folder that knows no such locks
            return
        else:
            return


def read_attempts(path: Path, index: str) -> Mapping[str, LastRun]:
    """How the last run of each source of an index ended, as a textfile has it; none if it cannot be read."""
    try:
        families = list(text_string_to_metric_families(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
    told: dict[str, dict[str, str | float]] = {}
    for sample in (one for family in families for one in family.samples):
        if sample.labels.get("index") != index or "source" not in sample.labels:
            continue
        of_source = told.setdefault(sample.labels["source"], {})
        if sample.name == catalogue.RUN_STATE.name and sample.value == 1:
            of_source[sample.name] = sample.labels["state"]
        elif sample.name in (catalogue.RUN_START.name, catalogue.RUN_END.name):
            of_source[sample.name] = sample.value
    return {source: one for source, of_source in told.items() if (one := _attempt(of_source))}


def _attempt(told: Mapping[str, str | float]) -> LastRun | None:
    state, start = told.get(catalogue.RUN_STATE.name), told.get(catalogue.RUN_START.name)
    end = told.get(catalogue.RUN_END.name)
    if state is None or start is None or end is None:
        return None
    return LastRun(state=str(state), started_at=_time(start), finished_at=_time(end))


def _time(seconds: str | float) -> str:
    return datetime.fromtimestamp(float(seconds), UTC).isoformat(timespec="seconds")


QUESTION_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0)
"""Seconds; a request may take 15."""

_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})


class QuestionOutcome(StrEnum):
    """What became of a question."""

    FOUND = "found"
    NOT_FOUND = "not_found"  # answered, with no evidence
    REFUSED = "refused"  # by the policy
    INVALID = "invalid"  # no question that can be read
    UNAUTHORIZED = "unauthorized"
    BUSY = "busy"  # turned away, or the index could not be read then
    TIMEOUT = "timeout"
    FAILED = "failed"


_WORKED_ON = frozenset(
    {QuestionOutcome.FOUND, QuestionOutcome.NOT_FOUND, QuestionOutcome.TIMEOUT, QuestionOutcome.FAILED}
)
"""Those that are timed: what is turned away at once would hide how slow the others are."""

_BY_STATUS = {
    401: QuestionOutcome.UNAUTHORIZED,
    403: QuestionOutcome.REFUSED,
    503: QuestionOutcome.BUSY,
    504: QuestionOutcome.TIMEOUT,
}


def question_outcome(status: int, found: bool | None) -> QuestionOutcome:
    """Tell what became of a question by the status of its answer; *found* whether that had any evidence."""
    if status < 400:
        return QuestionOutcome.NOT_FOUND if found is False else QuestionOutcome.FOUND
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return QuestionOutcome.INVALID if status < 500 else QuestionOutcome.FAILED


class Questions:
    """The counters of one process.

    Where the environment names a folder for several processes (PROMETHEUS_MULTIPROC_DIR, before
    prometheus_client is imported), they lie there and whoever reads the folder sees the sum.
    """

    def __init__(self, index: str) -> None:
        # When a counter began would be a metric of its own for each, in one process and not in several.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._index = index
        self.registry = CollectorRegistry()
        self._asked = Counter(*_named(catalogue.QUESTIONS), registry=self.registry)
        self._seconds = Histogram(
            *_named(catalogue.QUESTION_SECONDS), buckets=QUESTION_BUCKETS, registry=self.registry
        )
        self._requests = Counter(*_named(catalogue.REQUESTS), registry=self.registry)
        for outcome in QuestionOutcome:  # a rate needs the 0 from which it rises
            self._asked.labels(index, outcome.value)
        self._seconds.labels(index)

    def answered(self, method: str, route: str, status: int) -> None:
        """Count a request."""
        known = method if method in _METHODS else "other"
        self._requests.labels(self._index, known, route, str(status)).inc()

    def asked(self, outcome: QuestionOutcome, seconds: float) -> None:
        """Count a question, and the seconds until its answer if it was worked on."""
        self._asked.labels(self._index, outcome.value).inc()
        if outcome in _WORKED_ON:
            self._seconds.labels(self._index).observe(seconds)


def _named(definition: MetricDefinition) -> tuple[str, str, tuple[str, ...]]:
    return definition.name, definition.help, ("index", *definition.labels)
