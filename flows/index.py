"""The flow `index_source`: the walk from planning to publishing, joined from flows/steps."""

from collections.abc import Sequence
from typing import Any, cast

from prefect import flow
from prefect.futures import PrefectFuture, wait
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows.active import active
from flows.hold import check_hold, lift_hold
from flows.leasing import hold_lease
from flows.mending import Mending, from_nothing, look_for_damage, repair_vectors
from flows.models import changes_model
from flows.opening import open_pipeline
from flows.stages import Stages
from flows.steps.collect import collect
from flows.steps.diff import check_seeds, diff_source
from flows.steps.embed import embed_task
from flows.steps.fetch import fetch_batch_task
from flows.steps.link import redirects_matter
from flows.steps.parse import parse_batch_task, parse_leftovers_task
from flows.steps.plan import Batch, cut, plan_source_task, plan_wave
from flows.steps.publish import publish_task
from flows.steps.recover import recover
from flows.steps.report import report_run
from flows.steps.settle import settle_source
from flows.steps.verify import verify_task
from flows.steps.write import link_task, write_task
from flows.wiring import Pipeline
from flows.work import Difference, Work, start_work
from indexes.stores.ledger.leases import Lease
from schemas.records import to_record
from schemas.report import RunReport

DOCUMENTS_PER_EMBEDDING = 50


TASK_RUNNER: TaskRunner[PrefectFuture[Any]] = cast(
    "TaskRunner[PrefectFuture[Any]]", ThreadPoolTaskRunner(max_workers=4)
)
"""Without a limit it would start a thread for every task that is submitted."""


@flow(name="index-source", task_runner=TASK_RUNNER)
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
    with open_pipeline(source, index=index, graph=graph, accept=accept, quiet=quiet) as pipeline:
        pipeline.repair = repair
        report = run_pipeline(pipeline, due=due, accept=accept)
        return to_record(report)


def run_pipeline(pipeline: Pipeline, *, due: bool, accept: bool) -> RunReport:
    """Crawl under the source's lease, then change the index under its own."""
    stages = Stages(pipeline.index.clock)
    if pipeline.repair:
        repair_vectors(pipeline.index)
    leases, clock = pipeline.index.ledger.leases, pipeline.index.clock
    with stages.timed("crawl"):
        crawl(pipeline, due_by=pipeline.index.now() if due else None)
        check_seeds(pipeline, settle_source(pipeline, accept=accept))
    with hold_lease(
        leases, "index", clock=clock, progress=pipeline.progress, stop=pipeline.stop, wait=True
    ) as lease:
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
    run_id = pipeline.run_id
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
    work = start_work(
        run_id, Work(difference=difference, lease=lease, as_of=pipeline.index.now(), accept=accept)
    )
    differs = changes_model(pipeline) or difference.changes or redirects_matter(pipeline, difference)
    if differs or mending is not Mending.NOTHING:
        with stages.timed("embed"):
            embed(pipeline, difference)
        for stage, step in (("link", link_task), ("write", write_task), ("verify", verify_task)):
            with stages.timed(stage):
                step(run_id)
        with stages.timed("publish"):
            publish_task(run_id)
        lift_hold(pipeline.index.layout)
    elif pipeline.index.has_grown:
        collect(pipeline.index, source=pipeline.source.name)
    pipeline.crash_point("report.before")
    return report_run(pipeline, work, stages.seconds)


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
