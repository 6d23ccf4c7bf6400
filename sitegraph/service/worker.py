"""One worker process of `sitegraph serve`: settings become the application."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fastapi import FastAPI
from starlette.types import Scope

from indexes.health import HealthReader
from indexes.wiring import Readers
from retrieval.learning.query_log import log_queries
from retrieval.live import LiveRetriever, open_retriever
from retrieval.question.policy import read_policy
from retrieval.retriever import RetrievalResult
from runtime.garbage import raise_gc_threshold
from runtime.processes.page_images import WITHHELD, draw_apart, stored_bytes
from runtime.telemetry.delivery import SECONDS, finish_within
from runtime.telemetry.questions import Questions
from runtime.telemetry.tracing import open_spans
from schemas.coverage import Coverage
from schemas.errors import SitegraphError
from schemas.feed import Feed
from schemas.nodes import Chunk
from schemas.settings import Settings
from sitegraph.service.app import build_app
from sitegraph.service.guard import Access, Guard, RequestLimits
from sitegraph.service.metrics import PATH as METRICS_PATH
from sitegraph.service.metrics import IndexWatch, Metered, Metering, add_metrics
from sitegraph.service.pages.frame import Pages
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem
from sitegraph.service.sessions import Sessions
from sitegraph.service.threads import Threads
from sitegraph.service.viewer.archive import Archive

_WATCH_SECONDS = 1.0
_DRAWING = 0.6
"""Share of a request's time that drawing a page may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What a worker is told by the process that starts it; `hosts` are None where a token is asked for.

    `metrics_folder` is where all workers count what they answer.
    """

    settings: Settings
    token: str | None
    hosts: frozenset[str] | None
    limits: RequestLimits = field(default_factory=RequestLimits)
    metrics_folder: str | None = None


def build_service(options: ServeOptions) -> Metered:
    """Return the application over an index, which is opened while it starts."""
    raise_gc_threshold()
    limits, held = options.limits, ExitStack()
    retriever = held.enter_context(
        open_retriever(
            Path(options.settings.index).resolve(),
            environment=options.settings.environment(),
            clock=time.monotonic,
            cache_mb=options.settings.reader_cache_mb,
            policy=read_policy(options.settings.deny),
        )
    )
    threads = Threads(working=limits.working, waiting=limits.waiting)
    held.callback(threads.close)
    parts = _parts(options.settings, retriever, threads, draw_seconds=_DRAWING * limits.seconds)
    pages = Pages(parts, Sessions(token=options.token, now=time.time))
    app = build_app(parts, pages)
    app.router.lifespan_context = _lifespan(retriever, threads, held)
    metering = _metering(options)

    def metrics_open(scope: Scope) -> bool:
        return options.settings.metrics_open and scope["path"] == METRICS_PATH

    held.callback(finish_within, SECONDS, [metering.close])
    add_metrics(app, metering)
    guarded = Guard(
        app,
        limits=limits,
        token=options.token,
        hosts=options.hosts,
        log=log_access,
        clock=time.monotonic,
        source_url=options.settings.source_url,
        admits=lambda scope: metrics_open(scope) or pages.sessions.admits(scope),
        problem=pages.problem,
    )
    return Metered(guarded, metering, clock=time.monotonic)


def _metering(options: ServeOptions) -> Metering:
    index = Path(options.settings.index).resolve()
    watch = IndexWatch(
        HealthReader(index, options.settings.ledger_url),
        now=lambda: datetime.now(UTC),
        clock=time.monotonic,
        warn=write_stderr,
    )
    spans = open_spans(os.environ, say=lambda line: write_stderr(f"sitegraph: warning: {line}"))
    questions = Questions(str(index))
    return Metering(questions=questions, watch=watch, spans=spans, folder=options.metrics_folder)


def log_access(access: Access) -> None:
    """Write one line of JSON to stderr."""
    line = {**asdict(access), "seconds": round(access.seconds, 4)}
    write_stderr(json.dumps({"at": _now(), **line}))


def _parts(settings: Settings, retriever: LiveRetriever, threads: Threads, *, draw_seconds: float) -> Parts:
    index = Path(settings.index).resolve()

    def changes(since: int, until: int | None, source: str | None) -> Feed:
        from indexes.changes import read_changes

        return read_changes(index, since=since, until=until, source=source, ledger_url=settings.ledger_url)

    def picture(readers: Readers, chunk: Chunk) -> bytes:
        if chunk.page_no is None:
            raise HttpProblem(404, f"{chunk.id} stands on no page of a PDF", "NotFound")
        data = stored_bytes(settings, readers)(chunk.doc)
        if data is None:
            raise HttpProblem(404, f"cannot be drawn: {WITHHELD}", "NotFound")
        return draw_apart(data, chunk)

    def coverage() -> Coverage:
        from indexes.coverage import read_coverage

        return read_coverage(index, now=_now(), ledger_url=settings.ledger_url)

    def log(result: RetrievalResult, not_found: bool) -> None:
        try:
            log_queries(index, [result.query], timestamp=_now(), results=[result], not_found=not_found)
        except OSError as error:
            write_stderr(f"sitegraph: warning: the usage log cannot be written: {error}")

    return Parts(
        retriever=retriever,
        threads=threads,
        changes=changes,
        picture=picture,
        log=log,
        warn=write_stderr,
        archive=Archive(settings, now=_now, warn=write_stderr, draw_seconds=draw_seconds),
        coverage=coverage,
        source_url=settings.source_url,
    )


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def _lifespan(retriever: LiveRetriever, threads: Threads, held: ExitStack) -> Lifespan:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        opening = asyncio.ensure_future(_open(retriever, threads))
        watching = asyncio.ensure_future(_end_with(os.getppid()))
        yield
        opening.cancel()
        watching.cancel()
        held.close()

    return lifespan


async def _open(retriever: LiveRetriever, threads: Threads) -> None:
    """Open the index before the first question; what is wrong with it is said by /readyz."""
    with suppress(SitegraphError):
        await threads.run(lambda: retriever.read(lambda readers: readers.encoder.encode_query("")))


async def _end_with(parent: int) -> None:
    """End when the process that started this one is gone, which cannot say so itself when it is killed."""
    while os.getppid() == parent:
        await asyncio.sleep(_WATCH_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


def write_stderr(line: str) -> None:
    """Write a line to stderr at once, so that lines of several workers do not mix."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
