"""A run in this process: the walk of a run (flows/walk.py) without Prefect, its stages called.

docs/decisions/0037-one-engine-in-process.md says why.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import groupby
from random import uniform
from typing import Any, TypeVar

from flows import tasks
from flows.run.batches import DOCUMENTS_PER_EMBEDDING, TASKS_AT_ONCE, cut
from flows.run.resources import Resources
from flows.run.stage import SECONDS_BETWEEN_TRIES, Stage
from flows.run.stages import Stages
from flows.run.values import (
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
from schemas.errors import Stopped, TransientError
from schemas.report import RunReport

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
            for part in cut(compared.fragments, DOCUMENTS_PER_EMBEDDING)
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
