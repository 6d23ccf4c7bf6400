"""What `serve` counts: requests, questions and how long they took."""

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from runtime.telemetry import catalogue
from runtime.telemetry.catalogue import MetricDefinition

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0)
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


def outcome_of(status: int, found: bool | None) -> QuestionOutcome:
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
            *_named(catalogue.QUESTION_SECONDS), buckets=BUCKETS, registry=self.registry
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
