"""One worker process of `sitegraph serve`: settings become the application."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.types import Scope

from indexes.health import HealthReader
from indexes.markers import find_audience, settings_of_audience, whole_of
from retrieval.learning.usage_log import count_usage
from runtime.settings import raise_gc_threshold
from runtime.telemetry.delivery import SECONDS, finish_within, open_spans
from runtime.telemetry.prometheus import Questions, question_outcome
from schemas.access import EVERYTHING, PUBLIC, ReaderToken, audience_name, groups_of_audience
from schemas.settings import Settings
from sitegraph.service.app import Api, build_app
from sitegraph.service.guard import Access, Guard, RequestLimits
from sitegraph.service.metrics import PATH as METRICS_PATH
from sitegraph.service.metrics import IndexWatch, Metered, Metering, add_metrics
from sitegraph.service.pages.frame import Pages
from sitegraph.service.parts import Parts, now, open_ahead, open_service_parts, write_stderr
from sitegraph.service.readers import AudienceRouter, FailClosed, ReaderSessions, Sessions, find_reader

if TYPE_CHECKING:
    from sitegraph.service.mcp_.http import McpEndpoint

_WATCH_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What a worker is told by the process that starts it; `hosts` are None where a token is asked for.

    `metrics_folder` is where all workers count what they answer. `readers` are those with tokens of their
    own, for whom `token` is a secret of the service.
    """

    settings: Settings
    token: str | None
    hosts: frozenset[str] | None
    limits: RequestLimits = field(default_factory=RequestLimits)
    metrics_folder: str | None = None
    readers: tuple[ReaderToken, ...] = ()


def build_service(options: ServeOptions) -> Metered:
    """Return the application over an index, which is opened while it starts."""
    raise_gc_threshold()
    held, metering = ExitStack(), _metering(options)
    held.callback(finish_within, SECONDS, [metering.close])
    if options.readers:
        return _build_for_readers(options, held, metering)
    sessions = Sessions(token=options.token, now=time.time)
    opened = _open_app(options, options.settings, sessions, metering)
    add_metrics(opened.app, metering)
    opened.app.router.lifespan_context = _lifespan([opened], held)
    whole = whole_of(Path(options.settings.index))
    guarded = FailClosed(opened.guarded, whole=whole, problem=opened.pages.problem)
    return Metered(app=guarded, metering=metering, clock=time.monotonic, leave=opened.leave)


def _build_for_readers(options: ServeOptions, held: ExitStack, metering: Metering) -> Metered:
    """An application for each audience, and the whole index, which has the metrics; `public` for nobody's."""
    root = Path(options.settings.index).resolve()
    assert options.token is not None
    sessions = ReaderSessions(token=options.token, now=time.time, readers=options.readers)
    audiences = {reader.name: audience_name(reader.groups) for reader in options.readers}
    apps = {
        name: _open_app(options, settings_for(options.settings, root, name), sessions, metering)
        for name in sorted({*audiences.values(), PUBLIC, EVERYTHING})
    }
    add_metrics(apps[EVERYTHING].app, metering)
    apps[PUBLIC].app.router.lifespan_context = _lifespan(list(apps.values()), held)

    def leave() -> None:
        for one in apps.values():
            one.leave()

    def always(scope: Scope) -> str | None:
        return EVERYTHING if _is_open_scrape(options, scope) else None

    applications = {name: one.guarded for name, one in apps.items()}
    led = AudienceRouter(applications, audiences, sessions, default=PUBLIC, always=always)
    return Metered(app=led, metering=metering, clock=time.monotonic, leave=leave)


def settings_for(settings: Settings, root: Path, audience: str) -> Settings:
    """Return settings of the index that an audience reads; raises ConfigError where there is none."""
    if audience == EVERYTHING:
        return settings
    found = find_audience(root, groups_of_audience(audience), subject="SITEGRAPH_TOKENS")
    return settings_of_audience(settings, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceApp:
    """The application over one index, bare and guarded."""

    app: Api
    guarded: Guard
    parts: Parts
    pages: Pages
    mcp: "McpEndpoint | None"
    held: ExitStack

    def leave(self) -> None:
        if self.mcp is not None:
            self.mcp.leave()


def _open_app(
    options: ServeOptions, settings: Settings, sessions: Sessions, metering: Metering
) -> AudienceApp:
    limits, held = options.limits, ExitStack()
    parts = held.enter_context(open_service_parts(settings, limits))
    pages = Pages(parts, sessions)
    mcp = _open_mcp(parts, limits, metering)
    app = build_app(parts, pages, mcp=mcp)
    readers = options.readers
    guarded = Guard(
        app,
        limits=limits,
        token=options.token,
        hosts=options.hosts,
        log=log_access,
        clock=time.monotonic,
        source_url=settings.source_url,
        admits=lambda scope: _is_open_scrape(options, scope) or sessions.admits(scope),
        knows=(lambda given: find_reader(readers, given) is not None) if readers else None,
        problem=pages.problem,
    )
    return AudienceApp(app=app, guarded=guarded, parts=parts, pages=pages, mcp=mcp, held=held)


def _is_open_scrape(options: ServeOptions, scope: Scope) -> bool:
    return options.settings.metrics_open and scope["path"] == METRICS_PATH


def _open_mcp(parts: Parts, limits: RequestLimits, metering: Metering) -> "McpEndpoint | None":
    """None where the library is not installed: HTTP does without it."""
    if find_spec("mcp") is None:
        return None
    from sitegraph.service.mcp_.http import McpEndpoint

    def count(status: int, found: bool | None, seconds: float) -> None:
        metering.questions.asked(question_outcome(status, found), seconds)

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


def _lifespan(apps: Sequence[AudienceApp], held: ExitStack) -> Lifespan:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        opening = [asyncio.ensure_future(asyncio.to_thread(open_ahead, app.parts)) for app in apps]
        watching = asyncio.ensure_future(_end_with(os.getppid()))
        async with AsyncExitStack() as running:
            for app in apps:
                if app.mcp is not None:
                    await running.enter_async_context(app.mcp.running())
            yield
        for one in (*opening, watching):
            one.cancel()
        for app in apps:
            app.held.close()
        held.close()

    return lifespan


async def _end_with(parent: int) -> None:
    """End when the process that started this one is gone, which cannot say so itself when it is killed."""
    while os.getppid() == parent:
        await asyncio.sleep(_WATCH_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
