"""One worker process of `sitegraph serve`: settings become the application."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.types import Scope

from indexes.health import HealthReader
from retrieval.learning.usage_counts import count_usage
from runtime.garbage import raise_gc_threshold
from runtime.telemetry.delivery import SECONDS, finish_within
from runtime.telemetry.questions import Questions, outcome_of
from runtime.telemetry.tracing import open_spans
from schemas.settings import Settings
from sitegraph.service.app import build_app
from sitegraph.service.guard import Access, Guard, RequestLimits
from sitegraph.service.metrics import PATH as METRICS_PATH
from sitegraph.service.metrics import IndexWatch, Metered, Metering, add_metrics
from sitegraph.service.pages.frame import Pages
from sitegraph.service.parts import Parts, now, open_ahead, open_parts, write_stderr
from sitegraph.service.sessions import Sessions

if TYPE_CHECKING:
    from sitegraph.service.mcp_.http import McpEndpoint

_WATCH_SECONDS = 1.0


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
    parts = held.enter_context(open_parts(options.settings, limits))
    pages = Pages(parts, Sessions(token=options.token, now=time.time))
    metering = _metering(options)
    mcp = _open_mcp(parts, limits, metering)
    app = build_app(parts, pages, mcp=mcp)
    app.router.lifespan_context = _lifespan(parts, mcp, held)

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
    return Metered(guarded, metering, clock=time.monotonic, leave=mcp.leave if mcp else None)


def _open_mcp(parts: Parts, limits: RequestLimits, metering: Metering) -> "McpEndpoint | None":
    """None where the library is not installed: HTTP does without it."""
    if find_spec("mcp") is None:
        return None
    from sitegraph.service.mcp_.http import McpEndpoint

    def count(status: int, found: bool | None, seconds: float) -> None:
        metering.questions.asked(outcome_of(status, found), seconds)

    return McpEndpoint(parts, limits, count=count)


def _metering(options: ServeOptions) -> Metering:
    index = Path(options.settings.index).resolve()
    watch = IndexWatch(
        HealthReader(index, options.settings.ledger_url),
        now=lambda: datetime.now(UTC),
        clock=time.monotonic,
        warn=write_stderr,
        count=lambda: count_usage(index),
    )
    spans = open_spans(os.environ, say=lambda line: write_stderr(f"sitegraph: warning: {line}"))
    questions = Questions(str(index))
    return Metering(questions=questions, watch=watch, spans=spans, folder=options.metrics_folder)


def log_access(access: Access) -> None:
    """Write one line of JSON to stderr."""
    line = {**asdict(access), "seconds": round(access.seconds, 4)}
    write_stderr(json.dumps({"at": now(), **line}))


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def _lifespan(parts: Parts, mcp: "McpEndpoint | None", held: ExitStack) -> Lifespan:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        opening = asyncio.ensure_future(parts.threads.run(lambda: open_ahead(parts)))
        watching = asyncio.ensure_future(_end_with(os.getppid()))
        async with AsyncExitStack() as running:
            if mcp is not None:
                await running.enter_async_context(mcp.running())
            yield
        opening.cancel()
        watching.cancel()
        held.close()

    return lifespan


async def _end_with(parent: int) -> None:
    """End when the process that started this one is gone, which cannot say so itself when it is killed."""
    while os.getppid() == parent:
        await asyncio.sleep(_WATCH_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
