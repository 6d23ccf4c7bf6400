"""The flow `index_source`: the walk of a run (flows/walk.py), each stage a Prefect task."""

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache, wraps
from typing import Any, TypeVar, cast

from prefect import Task, flow, tags, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture, wait
from prefect.task_runners import TaskRunner

from flows import tasks
from flows.crawl.parse import plan_leftovers
from flows.derive.diff import load_difference
from flows.run.account import problems_so_far, watched_run
from flows.run.events import tell_block, tell_error, tell_login, tell_report
from flows.run.flow_runs import (
    advised,
    completed,
    end_covered,
    failed,
    forwarded_logs,
    publish_artifacts,
    run_name,
    show_problems,
    show_refusal,
    source_name,
    tag_run,
)
from flows.run.index import Index
from flows.run.opening import open_run
from flows.run.process_cache import lent
from flows.run.resources import Resources
from flows.run.stage import Stage, Stages
from flows.run.task_runners import TRANSIENT, ConfiguredTaskRunner, runs_in_workers, told_failures
from flows.run.values import (
    DOCUMENTS_PER_EMBEDDING,
    ComparedSource,
    Crawled,
    CrawlWave,
    Embedded,
    FetchedBatch,
    ParsedBatch,
    Planned,
    Run,
    sum_crawl,
)
from flows.walk import Work, walk
from runtime.clock import SystemClock
from runtime.cost import METER
from runtime.settings import read_settings
from schemas.batches import batched
from schemas.changes import DocumentChange
from schemas.cost import Cause, caused_by
from schemas.errors import DamageFound, SitegraphError
from schemas.records import from_record, to_record
from schemas.report import RunReport
from schemas.settings import Settings

R = TypeVar("R")
D = TypeVar("D", bound=FetchedBatch | ParsedBatch | Embedded)

_log = logging.getLogger(__name__)

DOCUMENTS_PER_REMOTE_EMBEDDING = 200
"""Where workers share the embedding: little of it is left, since they embed what they parse."""

SECONDS_TO_STOP = 60.0
"""How long workers that were told to stop are waited for; one that hangs, or is cut off, is left behind."""

TASK_RUNNER = cast("TaskRunner[PrefectFuture[Any]]", ConfiguredTaskRunner())


@flow(name="index-source", flow_run_name=run_name, task_runner=TASK_RUNNER)
def index_source(
    source: str,
    index: str | None = None,
    graph: str | None = None,
    due: bool = False,
    accept: bool = False,
    quiet: bool = False,
    repair: bool = False,
    model: str | None = None,
) -> dict[str, Any]:
    """Bring the index up to date with one source and give the run's report.

    Args: source: path of a source file; index: index folder (default: the settings'); graph: `lance`
    or `neo4j`, for a new index; due: look only at documents whose time has come; accept: publish even
    though the guard objects; quiet: no progress on stderr; repair: compare everything that readers see with
    its hashes first, and make again what is damaged; model: name or folder of an encoder (default: the
    index's own).
    """
    options = {"accept": accept, "quiet": quiet, "repair": repair}
    settings: Settings | None = None
    with forwarded_logs():
        try:
            settings = read_settings(index, graph=graph, model=model)
            with watched_run(source, settings) as watch:
                report = run_with_tasks(source, settings, due=due, options=options)
                watch.report = to_record(report)
        except SitegraphError as raised:
            error = advised(raised)
            _log.error("%s", error)
            show_refusal(source_name(source), error)
            if settings is not None:  # else nobody knows whose index it is
                tell_error(source, settings, error)
            end_covered()
            # Prefect takes a state that is returned as the run's, and gives callers its data, or raises it.
            return cast("dict[str, Any]", failed(error))
        end_covered()
        return cast("dict[str, Any]", completed(report, to_record(report)))


def run_with_tasks(source: str, settings: Settings, *, due: bool, options: dict[str, bool]) -> RunReport:
    """Open the run as a task of its own; then walk."""
    stages, name = Stages(SystemClock()), source_name(source)
    tag_run(f"source:{name}")
    with tags(f"source:{name}"), ExitStack() as stack:
        with stages.timed("start"), caused_by(Cause.START):
            resources, run = _start(stack, source, settings, options)
            tell_login(resources)
        try:
            report = run_walk(resources, due=due, stages=stages, started=run)
        except SitegraphError:
            tell_block(resources)
            with suppress(SitegraphError):  # of the ledger: what went wrong first says more
                show_problems(name, problems_so_far(resources.crawling()))
            raise
        tell_block(resources)
        tell_report(resources, report)
        return report


def _start(
    stack: ExitStack, source: str, settings: Settings, options: dict[str, bool]
) -> tuple[Resources, Run]:
    """Open the run in *stack*, under a task whose result is the run's name.

    Prefect knows by this copy, and by no other object of the same value, what comes after the task.
    """
    opened: list[Resources] = []

    @task(name="start", task_run_name="start {name}")
    def start(name: str) -> Run:  # noqa: ARG001 - its run is named by it
        opened.append(stack.enter_context(open_run(source, settings, **options)))
        return from_record(Run, json.loads(json.dumps(to_record(opened[0].run))))

    started = start(source_name(source))
    return opened[0], started


def run_walk(
    resources: Resources, *, due: bool, stages: Stages | None = None, started: Run | None = None
) -> RunReport:
    """Walk with tasks; nothing of it goes on once this has ended, since the source's lease ends with it.

    *started* is the result of the task that opened the run.
    """
    settings = resources.index.settings
    with ExitStack() as lending:
        remote = lending.enter_context(lent(resources)) if runs_in_workers(settings) else None
        engine = PrefectEngine(resources, started, remote=remote)
        try:
            with told_failures(settings), caused_by(Cause.PREFECT):
                report = walk(resources, engine, due=due, stages=stages or Stages(resources.index.clock))
            publish_artifacts(report, _changes(resources.index, engine.compared))
            return report
        except BaseException:
            resources.stop.set()
            lending.close()  # by this workers know
            engine.wait()
            raise


def _changes(index: Index, compared: ComparedSource | None) -> Sequence[DocumentChange]:
    """What changed; nothing where another source's run has deleted it already, since the lease has ended."""
    if compared is None or compared.difference is None:
        return ()
    try:
        return load_difference(index, compared).changes
    except DamageFound:
        return ()


@cache
def task_of(stage: Stage[..., R]) -> Task[..., R]:
    """Make a stage a task. It has effects: it is never skipped because another was given the same."""

    @wraps(stage.step)
    def run(*values: Any) -> R:
        return stage(*values)

    options = TRANSIENT if stage.is_retried else {}
    made: Task[..., R] = task(
        name=stage.name,
        task_run_name=stage.run_name,
        cache_policy=NO_CACHE,
        persist_result=False,
        **options,
    )(run)
    return made


class PrefectEngine:
    """Runs each stage as a task; `futures` are those of tasks that were submitted.

    Args: started: the result of the task that opened the run. remote: the run as workers know it, where
    stages that are submitted run in other processes.
    """

    def __init__(self, resources: Resources, started: Run | None, *, remote: Run | None) -> None:
        self._started, self._remote, self._resources = started, remote, resources
        # Prefect knows a result by its address, which another value gets once this one is gone.
        self._results: list[Any] = []
        self.futures: list[PrefectFuture[Any]] = []
        self.compared: ComparedSource | None = None

    def begin(self, run: Run) -> Run:
        """Give the run as the task that opened it returned it."""
        return self._started or run

    def call(self, stage: Stage[..., R], *values: Any) -> R:
        """Run a stage as a task, and wait for it."""
        result = cast("Callable[..., R]", task_of(stage))(*values)
        self._results.append(result)
        if isinstance(result, ComparedSource):
            self.compared = result
        return result

    def parse_leftovers(self, run: Run, planned: Planned) -> Crawled:
        """Let workers parse what an earlier run left, as they do what this one fetches."""
        if self._remote is None:
            return self.call(tasks.parse_leftovers, run, planned)
        batches = plan_leftovers(self._resources.crawling())
        empty = FetchedBatch(documents=0)
        futures = [self._submit(tasks.parse, self._remote, batch, empty) for batch in batches]
        return sum_crawl(cast("ParsedBatch", self._done(future.result())) for future in futures)

    def crawl_wave(self, run: Run, wave: CrawlWave) -> Sequence[Work]:
        """Submit the batches of each shard one after the other, shards side by side, parsing behind them."""
        run = self._remote or run
        fetched: dict[str, PrefectFuture[Any]] = {}
        futures: list[PrefectFuture[Any]] = []
        for batch in wave.batches:
            before = fetched.get(batch.shard)
            fetched[batch.shard] = future = self._submit(tasks.fetch, run, batch, before)
            futures += [future, self._submit(tasks.parse, run, batch, future)]
        return [self._done(future.result()) for future in futures]

    def embed(self, run: Run, compared: ComparedSource) -> Callable[[], Sequence[Embedded]]:
        """Submit the embedding of what changed, in parts."""
        size = DOCUMENTS_PER_REMOTE_EMBEDDING if self._remote else DOCUMENTS_PER_EMBEDDING
        parts = (replace(compared, fragments=tuple(part)) for part in batched(compared.fragments, size))
        futures = [self._submit(tasks.embed, self._remote or run, part) for part in parts]
        if self._remote:
            wait(futures)  # linking waits for the encoder of its own process alone
        return lambda: [self._told(future.result()) for future in futures]

    def wait(self) -> None:
        """Wait for the tasks that were submitted; for those of workers, which may be lost, not for ever."""
        wait(self.futures, timeout=SECONDS_TO_STOP if self._remote else None)

    def _done(self, work: Work) -> Work:
        """Show the progress of workers, which cannot show it themselves."""
        self._told(work)
        if self._remote:
            stage = "fetch" if isinstance(work, FetchedBatch) else "parse"
            if stage == "parse":
                self._resources.progress.expect(stage, work.documents)
            self._resources.progress.advance(stage, work.documents)
        return work

    def _told(self, work: D) -> D:
        """Take in what workers say that they spent."""
        METER.add_told(work.spent)
        return work

    def _submit(self, stage: Stage[..., Any], *values: Any) -> PrefectFuture[Any]:
        """Submit a stage; what it is given as a future is the value that comes of it."""
        future: PrefectFuture[Any] = task_of(stage).submit(*values, return_state=False)
        self.futures.append(future)
        return future
