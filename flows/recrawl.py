"""The flow `index_source`: the walk from planning to publishing, joined from flows/steps."""

import logging
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any, cast

from prefect import flow, tags, task
from prefect.futures import PrefectFuture, wait
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows.commit.garbage_collect import collect
from flows.commit.recover import recover
from flows.commit.repair import Mending, from_nothing, look_for_damage, repair_vectors
from flows.commit.report import record_run
from flows.crawl.plan import Batch, plan_wave
from flows.crawl.quarantine import quarantine_and_deduplicate
from flows.derive.diff import check_seeds, diff_source
from flows.derive.link import redirects_matter
from flows.run.artifacts import publish_artifacts, show_problems
from flows.run.batches import cut
from flows.run.flow_log import forwarded_logs
from flows.run.flow_states import completed, failed, run_name, show_refusal, source_name, tag_run
from flows.run.hold import check_hold, lift_hold
from flows.run.leases import hold_lease
from flows.run.opening import open_pipeline
from flows.run.pipeline import Pipeline, changes_model
from flows.run.problems import problems_so_far
from flows.run.registry import active, take_over
from flows.run.stages import Stages
from flows.run.work import Difference, Work, start_work
from flows.tasks import (
    embed_task,
    encode_task,
    fetch_batch_task,
    freeze_task,
    link_task,
    parse_batch_task,
    parse_leftovers_task,
    plan_source_task,
    publish_task,
    verify_task,
    write_task,
)
from indexes.stores.ledger.leases import Lease
from runtime.clock import SystemClock
from schemas.errors import SitegraphError
from schemas.records import to_record
from schemas.report import RunReport

DOCUMENTS_PER_EMBEDDING = 50

_log = logging.getLogger(__name__)

TASK_RUNNER: TaskRunner[PrefectFuture[Any]] = cast(
    "TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=4)
)
"""Without a limit it would start a thread for every task that is submitted."""


@flow(name="index-source", flow_run_name=run_name, task_runner=TASK_RUNNER)
def index_source(
    source: str,
    index: str | None = None,
    graph: str | None = None,
    due: bool = False,
    accept: bool = False,
    quiet: bool = False,
    repair: bool = False,
) -> dict[str, Any]:
    """Bring the index up to date with one source and give the run's report.

    Args: source: path of a source file; index: index folder (default: the settings'); graph: `lance`
    or `neo4j`, for a new index; due: look only at documents whose time has come; accept: publish even
    though the guard objects; quiet: no progress on stderr; repair: compare everything that readers see with
    its hashes first, and make anew what is damaged.
    """
    options = {"index": index, "graph": graph, "accept": accept, "quiet": quiet, "repair": repair}
    with forwarded_logs():
        try:
            report = run_source(source, due=due, accept=accept, options=options)
        except SitegraphError as error:
            _log.error("%s", error)
            show_refusal(source_name(source), error)
            # Prefect takes a state that is returned as the run's, and gives callers its data, or raises it.
            return cast("dict[str, Any]", failed(error))
        return cast("dict[str, Any]", completed(report, to_record(report)))


def run_source(source: str, *, due: bool, accept: bool, options: dict[str, Any]) -> RunReport:
    """Open the run's parts as a task of its own, then run it."""
    begun, name = take_over(), source_name(source)
    stages = begun.stages if begun else Stages(SystemClock())
    tag_run(f"source:{name}")
    with tags(f"source:{name}"), ExitStack() as stack:
        with stages.timed("start", since=begun.since if begun else None):
            pipeline = _start(stack, source, options)
        try:
            return run_pipeline(pipeline, due=due, accept=accept, stages=stages)
        except SitegraphError:
            with suppress(SitegraphError):  # of the ledger: what went wrong first says more
                show_problems(name, problems_so_far(pipeline))
            raise


def _start(stack: ExitStack, source: str, options: dict[str, Any]) -> Pipeline:
    """Open the pipeline in *stack*, under a task: what is opened goes through no task's result."""
    opened: list[Pipeline] = []

    @task(name="start", task_run_name="start {name}")
    def start(name: str) -> str:  # noqa: ARG001 - its run is named by it
        opened.append(stack.enter_context(open_pipeline(source, **options)))
        return opened[0].run_id

    start(source_name(source))
    return opened[0]


def run_pipeline(pipeline: Pipeline, *, due: bool, accept: bool, stages: Stages | None = None) -> RunReport:
    """Crawl under the source's lease, then change the index under its own."""
    stages = stages or Stages(pipeline.index.clock)
    if pipeline.repair:
        repair_vectors(pipeline.index)
    leases, clock = pipeline.index.ledger.leases, pipeline.index.clock
    with stages.timed("crawl"):
        crawl(pipeline, due_by=pipeline.index.now() if due else None)
        check_seeds(pipeline, quarantine_and_deduplicate(pipeline, accept=accept), accept=accept)
    with ExitStack() as stack:
        with stages.timed("wait"):
            held = hold_lease(
                leases, "index", clock=clock, progress=pipeline.progress, stop=pipeline.stop, wait=True
            )
            lease = stack.enter_context(held)
        return change_index(pipeline, lease, stages, accept=accept)


def crawl(pipeline: Pipeline, *, due_by: str | None) -> None:
    """Fetch and parse, wave after wave, until every document has been looked at."""
    run_id = pipeline.run_id
    plan_source_task(run_id, due_by)
    parse_leftovers_task(run_id)
    while wave := plan_wave(pipeline, due_by=due_by):
        pipeline.progress.expect("fetch", sum(len(batch.uris) for batch in wave))
        _submit_wave(run_id, wave)


def change_index(pipeline: Pipeline, lease: Lease, stages: Stages, *, accept: bool) -> RunReport:
    """Decide, write, verify and publish what the crawl found; an empty difference writes nothing."""
    pipeline.crash_point("lease.acquired")
    if not accept:
        check_hold(pipeline.index.layout)  # a rollback may have come while the source was crawled
    with stages.timed("recover"):
        mending = look_for_damage(pipeline)
        if mending is not Mending.STORES:  # what a crash left in damaged stores goes with them
            recover(pipeline, lease=lease)
        # An encoder that no generation names yet goes with what recovery prunes.
        pipeline.export_encoder()
    with stages.timed("diff"):
        difference = diff_source(pipeline, accept=accept)
        if mending is Mending.STORES:
            difference = from_nothing(pipeline, difference)
        changes = mending is not Mending.NOTHING or needs_generation(pipeline, difference)
    work = start_work(
        pipeline.run_id,
        Work(difference=difference, lease=lease, as_of=pipeline.index.now(), accept=accept),
    )
    if changes:
        make_generation(pipeline, difference, stages)
    elif pipeline.index.has_grown:
        with stages.timed("collect"):
            collect(pipeline.index, source=pipeline.source.name)
    pipeline.crash_point("report.before")
    report = record_run(pipeline, work, stages)
    publish_artifacts(report, difference.changes if work.generation else ())
    return report


def needs_generation(pipeline: Pipeline, difference: Difference) -> bool:
    """Whether readers would see anything else than they do."""
    if changes_model(pipeline) or difference.changes:
        return True
    return redirects_matter(pipeline, difference)


def make_generation(pipeline: Pipeline, difference: Difference, stages: Stages) -> None:
    """Make the next generation, and publish it."""
    run_id = pipeline.run_id
    with stages.timed("embed"):
        embed(pipeline, difference)
    for stage, step in (
        ("link", link_task),
        ("embed", encode_task),
        ("link", freeze_task),
        ("write", write_task),
        ("verify", verify_task),
        ("publish", publish_task),
    ):
        with stages.timed(stage, waited=pipeline.seconds_waited):
            step(run_id)
    lift_hold(pipeline.index.layout)


def embed(pipeline: Pipeline, difference: Difference) -> None:
    """Have the changed documents' texts encoded, a task for each batch; the last ones beside `link`."""
    shas = [change.new.fragment_sha for change in difference.changes if change.new]
    for part in cut(shas, DOCUMENTS_PER_EMBEDDING):
        embed_task(pipeline.run_id, list(part))


def _submit_wave(run_id: str, wave: Sequence[Batch]) -> None:
    """Batches of one shard are fetched one after the other, shards side by side, parsing behind them."""
    fetches: dict[str, PrefectFuture[int]] = {}
    futures: list[PrefectFuture[int]] = []
    for batch in wave:
        record = {"name": batch.name, "uris": list(batch.uris)}
        before = [fetches[batch.shard]] if batch.shard in fetches else []
        fetch = fetch_batch_task.submit(run_id, record, return_state=False, wait_for=before)
        fetches[batch.shard] = fetch
        parse = parse_batch_task.submit(run_id, record, return_state=False, wait_for=[fetch])
        futures += [fetch, parse]
    try:
        for future in futures:
            future.result()
    except BaseException:
        # The source's lease ends with this run; nothing of it may go on behind its back.
        active(run_id).stop.set()
        wait(futures)
        raise
