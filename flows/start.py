"""How `sitegraph run` starts a run: in this process, or as a flow where a Prefect server is configured.

docs/decisions/0037-one-engine-in-process.md says why there are two engines.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import groupby
from random import uniform
from typing import Any, TypeVar

from flows import tasks
from flows.run.account import watched_run
from flows.run.opening import open_run
from flows.run.prefect_server import configured_server
from flows.run.resources import Resources
from flows.run.stage import SECONDS_BETWEEN_TRIES, Stage, Stages
from flows.run.values import (
    DOCUMENTS_PER_EMBEDDING,
    TASKS_AT_ONCE,
    Batch,
    ComparedSource,
    CrawlWave,
    Embedded,
    FetchedBatch,
    ParsedBatch,
    Planned,
    Run,
)
from flows.walk import Work, walk
from runtime.access import without_unspoken
from runtime.clock import SystemClock
from runtime.settings import THREADS
from schemas.advice import COMMAND_LINE, Door, DoorKind, advise
from schemas.batches import batched
from schemas.cost import Cause, caused_by
from schemas.errors import SitegraphError, Stopped, TransientError
from schemas.records import to_record
from schemas.report import RunReport
from schemas.settings import RunSettings, Settings

R = TypeVar("R")

JITTER = 0.5
"""Up to so much of the time between two tries comes on top, as with Prefect."""


def run_here(resources: Resources, *, due: bool, stages: Stages) -> RunReport:
    """Walk; nothing of it goes on once this has ended, since the source's lease ends with it."""
    with LocalEngine(resources) as engine:
        return walk(resources, engine, due=due, stages=stages)


class LocalEngine:
    """Calls stages; shards are crawled side by side, and what was fetched is parsed behind the fetching.

    Where a stage fails, those beside it are stopped, and its error is raised.
    """

    def __init__(self, resources: Resources) -> None:
        self._stop = resources.stop
        self._error: BaseException | None = None
        self._fetching = ThreadPoolExecutor(TASKS_AT_ONCE, "fetch")
        self._behind = ThreadPoolExecutor(TASKS_AT_ONCE, "parse-embed")

    def __enter__(self) -> "LocalEngine":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if kind is not None:
            self._stop.set()
        self._fetching.shutdown(cancel_futures=kind is not None)
        self._behind.shutdown(cancel_futures=kind is not None)
        if isinstance(error, Stopped) and self._error is not None and not isinstance(self._error, Stopped):
            raise self._error from error  # which had stopped what went on beside it

    def begin(self, run: Run) -> Run:
        """Give the run as it is."""
        return run

    def call(self, stage: Stage[..., R], *values: Any) -> R:
        """Call a stage, and again where what went wrong may pass."""
        for seconds in SECONDS_BETWEEN_TRIES if stage.is_retried else ():
            try:
                return stage(*values)
            except TransientError:
                if self._stop.wait(seconds * uniform(1, 1 + JITTER)):  # noqa: S311 - no secret
                    raise
        return stage(*values)

    def parse_leftovers(self, run: Run, planned: Planned) -> ParsedBatch:
        """Call the stage that does."""
        return self.call(tasks.parse_leftovers, run, planned)

    def crawl_wave(self, run: Run, wave: CrawlWave) -> Sequence[Work]:
        """Shards side by side, the batches of each in turn."""
        shards = [tuple(batches) for _, batches in groupby(wave.batches, key=lambda batch: batch.shard)]
        crawled = self._all([self._fetching.submit(self._crawl_shard, run, batches) for batches in shards])
        pairs = [pair for shard in crawled for pair in shard]
        parsed = self._all([parsing for _, parsing in pairs])
        return [one for (fetched, _), behind in zip(pairs, parsed, strict=True) for one in (fetched, behind)]

    def embed(self, run: Run, compared: ComparedSource) -> Callable[[], Sequence[Embedded]]:
        """Begin to embed what changed, in parts."""
        parts = (
            replace(compared, fragments=tuple(part))
            for part in batched(compared.fragments, DOCUMENTS_PER_EMBEDDING)
        )
        futures = [self._behind.submit(self._run, tasks.embed, run, part) for part in parts]
        return lambda: self._all(futures)

    def _crawl_shard(
        self, run: Run, batches: Sequence[Batch]
    ) -> list[tuple[FetchedBatch, "Future[ParsedBatch]"]]:
        done = []
        for batch in batches:
            fetched = self._run(tasks.fetch, run, batch, None)
            done.append((fetched, self._behind.submit(self._run, tasks.parse, run, batch, fetched)))
        return done

    def _run(self, stage: Stage[..., R], *values: Any) -> R:
        """Call a stage in a thread; those beside it stop where it fails, which is no error of theirs."""
        try:
            return self.call(stage, *values)
        except BaseException as error:
            if self._error is None or isinstance(self._error, Stopped):
                self._error = error
            self._stop.set()
            raise

    def _all(self, futures: "Sequence[Future[R]]") -> list[R]:
        wait(futures, return_when=FIRST_EXCEPTION)
        if self._error is not None:
            raise self._error
        return [one.result() for one in futures]


def run_source(
    source: str, settings: Settings, *, due: bool, prefect: bool = False, **options: bool
) -> dict[str, Any]:
    """Bring an index up to date with a source, and give the run's report.

    Args: prefect: a flow run, though no server is configured; Prefect starts one until it ends. options: as
    `flows.run.opening.open_run` has them.

    Raises: what `open_run` and the stages raise, with advice for who called this.
    """
    with watched_run(source, settings, say=_warn) as watch:
        run = _run_flow if prefect or _needs_flow(settings) else _run_here
        watch.report = report = run(source, settings, due=due, **options)
        return report


def _warn(line: str) -> None:
    sys.stderr.write(f"sitegraph: warning: {line}\n")


def _needs_flow(settings: RunSettings) -> bool:
    return settings.task_runner != THREADS or configured_server() is not None


def _run_here(source: str, settings: Settings, *, due: bool, **options: bool) -> dict[str, Any]:
    stages = Stages(SystemClock())
    with ExitStack() as stack:
        stack.enter_context(_advised(source, settings))
        with stages.timed("start"), caused_by(Cause.START):
            resources = stack.enter_context(open_run(source, settings, **options))
        return to_record(run_here(resources, due=due, stages=stages))


@contextmanager
def _advised(source: str, settings: Settings) -> Iterator[None]:
    """Word the advice of errors for a program that calls this; a command words it by its own line."""
    try:
        yield
    except SitegraphError as error:
        if COMMAND_LINE.get() is None:
            door = Door(kind=DoorKind.PYTHON, index=settings.index, source=source)
            error.message = advise(error.message, door)
        raise


def _run_flow(source: str, settings: Settings, **options: bool) -> dict[str, Any]:
    """Call the flow: its parameters are plain values, from which it reads settings as a worker would."""
    with caused_by(Cause.PREFECT), without_unspoken(os.environ):
        from flows.recrawl import index_source

        report: dict[str, Any] = index_source(
            source, index=settings.index, graph=settings.graph, model=settings.model, **options
        )
        return report
