"""`GET /metrics`, and what counts the requests: an application around the one that answers them."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime

from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from indexes.health import HealthReader
from runtime.telemetry.delivery import OpenSpan, Spans
from runtime.telemetry.families import MetricFamily, index_families, usage_families
from runtime.telemetry.prometheus import Questions, question_outcome, render
from schemas.evidence import UsageCounts
from schemas.health import IndexHealth
from sitegraph.service.readers import refuse_allow

PATH = "/metrics"
FOUND = "sitegraph.found"
"""Key of a question's scope: whether it was answered with any evidence, None as long as it was not."""

HEALTH_SECONDS, HEALTH_SECONDS_MAX = 15.0, 300.0
"""How long what was read of the index is told again, at least and at most."""
_SHARE = 50
"""A read is kept for so many times what it took: at most a fiftieth of the time goes into reading."""

_ASKED_AT = "/retrieve"
_MAY_ASK = frozenset({_ASKED_AT, "/", "/search", "/answer"})


def count_as_question(scope: Scope) -> Callable[[bool], None]:
    """Count a request as a question; what is returned takes whether it was answered with any evidence."""
    scope[FOUND] = None
    return lambda found: scope.update({FOUND: found})


@dataclass
class IndexWatch:
    """Reads how the index is when somebody asks, and not again for a while; never two threads at once.

    `now` is the time in UTC, `clock` monotonic seconds; `warn` is told what cannot be read, once. `count`
    gives the counts of the usage log.
    """

    reader: HealthReader
    now: Callable[[], datetime]
    clock: Callable[[], float]
    warn: Callable[[str], None]
    count: Callable[[], UsageCounts] = UsageCounts
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _until: float = field(default=0.0, init=False)
    _last: IndexHealth | None = field(default=None, init=False)

    def families(self) -> tuple[MetricFamily, ...]:
        """Return the metrics of the index; ages are as of this moment, whenever it was read."""
        now = self.now()
        health = self._health(now)
        # Counted each time: of two workers one may not tell fewer than the other told before, which
        # Prometheus would take for a counter that began anew.
        return (*index_families(health, now=now), *usage_families(health.index, self.count()))

    def _health(self, now: datetime) -> IndexHealth:
        with self._lock:
            began = self.clock()
            if self._last is None or began >= self._until:
                before = self._last.problem if self._last else None
                self._last = self.reader.read(now.isoformat(timespec="seconds"))
                ended = self.clock()
                self._until = ended + seconds_kept(ended - began)
                if self._last.problem not in (None, before):
                    self.warn(f"sitegraph: warning: metrics of the index: {self._last.problem}")
            return self._last


def seconds_kept(took: float) -> float:
    """Return for how long a read that *took* so many seconds is told again."""
    return min(max(HEALTH_SECONDS, _SHARE * took), HEALTH_SECONDS_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metering:
    """What requests are counted with, and what a scrape is answered from.

    `folder` is where the workers of one service count together; None: this process is the only one.
    """

    questions: Questions
    watch: IndexWatch
    spans: Spans
    folder: str | None = None

    def close(self) -> None:
        """Deliver the spans that are left."""
        self.spans.close()


def add_metrics(app: FastAPI, metering: Metering) -> None:
    """Answer scrapes; from a thread of their own, since they are wanted most when all others are busy."""
    threads = ThreadPoolExecutor(1, thread_name_prefix="metrics")

    @app.get(PATH, include_in_schema=False, dependencies=[Depends(refuse_allow)])
    async def metrics(request: Request) -> Response:
        """Return metrics in the text format of Prometheus, or of OpenMetrics where that is asked for."""
        accept = request.headers.get("accept", "")
        loop = asyncio.get_running_loop()
        body, content_type = await loop.run_in_executor(threads, _render, metering, accept)
        return Response(body, headers={"Content-Type": content_type})


def _render(metering: Metering, accept: str) -> tuple[bytes, str]:
    return render(
        metering.watch.families(),
        accept=accept,
        counted=metering.questions.registry,
        folder=metering.folder,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metered:
    """Wraps an application: counts its requests and questions, and makes a span of each question.

    `leave` ends answers that are streams, when the process is about to end.
    """

    app: ASGIApp
    metering: Metering
    clock: Callable[[], float]
    leave: Callable[[], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = self.clock(), 500
        span = self._begin(scope)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            self._count(scope, status, self.clock() - started, span)

    def _begin(self, scope: Scope) -> OpenSpan | None:
        if scope["path"] not in _MAY_ASK:
            return None
        return self.metering.spans.begin("question", parent=dict(Headers(scope=scope)))

    def _count(self, scope: Scope, status: int, seconds: float, span: OpenSpan | None) -> None:
        route = getattr(scope.get("route"), "path", "-")
        self.metering.questions.answered(scope["method"], route, status)
        if scope["path"] != _ASKED_AT and FOUND not in scope:
            return
        outcome = question_outcome(status, scope.get(FOUND))
        self.metering.questions.asked(outcome, seconds)
        if span is not None:
            span.set(outcome=outcome.value, status=status)
            if status >= 500:
                span.fail(outcome.value)
            self.metering.spans.end(span)
