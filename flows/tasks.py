"""The stages of a run as Prefect tasks."""

from typing import Any

from flows.commit.publish import publish_generation
from flows.commit.verify import verify_generation
from flows.commit.write import write_plan
from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch, parse_leftovers
from flows.crawl.plan import plan_source
from flows.derive.embed import embed_fragments, wait_for_encoding
from flows.derive.freeze import check_text, freeze, link_rows
from flows.derive.row_plan import RowPlan
from flows.run.lazy_task import task
from flows.run.registry import active
from flows.run.retries import TRANSIENT
from flows.run.task_names import batch_named, named
from flows.run.work import work_of


@task(name="plan", task_run_name=named("plan"))
def plan_source_task(run_id: str, due_by: str | None) -> int:
    """Plan the start of a run."""
    return plan_source(active(run_id), due_by=due_by)


@task(name="fetch", task_run_name=batch_named("fetch"), **TRANSIENT)
def fetch_batch_task(run_id: str, batch: dict[str, Any]) -> int:
    """Fetch one batch of one shard."""
    return fetch_batch(active(run_id), batch["uris"])


@task(name="parse", task_run_name=batch_named("parse"))
def parse_batch_task(run_id: str, batch: dict[str, Any]) -> int:
    """Parse one fetched batch."""
    return parse_batch(active(run_id), batch["uris"])


@task(name="parse-leftovers", task_run_name=named("parse leftovers of"))
def parse_leftovers_task(run_id: str) -> int:
    """Parse stored bytes that have no fragment of this pipeline version."""
    return parse_leftovers(active(run_id))


@task(name="embed", task_run_name=named("embed", "fragment_shas"))
def embed_task(run_id: str, fragment_shas: list[str]) -> int:
    """Have one batch of documents encoded."""
    return embed_fragments(active(run_id), fragment_shas)


@task(name="encode", task_run_name=named("encode"))
def encode_task(run_id: str) -> int:
    """Wait until everything has its vector: what takes most of a first run is seen where it belongs."""
    return wait_for_encoding(active(run_id))


@task(name="link", task_run_name=named("link"))
def link_task(run_id: str) -> None:
    """Decide the rows of every document that changes, and of those around it."""
    pipeline, work = active(run_id), work_of(run_id)
    work.rows = link_rows(pipeline, work.difference, as_of=work.as_of)


@task(name="freeze", task_run_name=named("freeze"))
def freeze_task(run_id: str) -> None:
    """Decide what follows from all documents together, and freeze the plan."""
    pipeline, work = active(run_id), work_of(run_id)
    assert isinstance(work.rows, RowPlan)
    planned, work.rows = work.rows.decide(), None
    check_text(pipeline, work.difference, planned, accept=work.accept)
    work.generation = freeze(pipeline, work.difference, planned, lease=work.lease, as_of=work.as_of)


@task(name="write", task_run_name=named("write"), **TRANSIENT)
def write_task(run_id: str) -> None:
    """Apply the frozen plan; may be repeated."""
    pipeline, work = active(run_id), work_of(run_id)
    assert work.generation is not None
    work.staged = write_plan(pipeline, work.generation, lease=work.lease)


@task(name="verify", task_run_name=named("verify"))
def verify_task(run_id: str) -> None:
    """Check what was written."""
    work = work_of(run_id)
    assert work.generation is not None
    assert work.staged is not None
    verify_generation(active(run_id), work.generation, work.staged)


@task(name="publish", task_run_name=named("publish"))
def publish_task(run_id: str) -> None:
    """Publish what was verified."""
    work = work_of(run_id)
    assert work.generation is not None
    assert work.staged is not None
    publish_generation(active(run_id), work.generation, work.staged, lease=work.lease)
