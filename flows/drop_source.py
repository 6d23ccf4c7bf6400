"""Taking a source out of the index, as a generation of its own."""

from shutil import rmtree
from typing import Any

from flows.commit.garbage_collect import collect
from flows.commit.publish import publish_generation
from flows.commit.recover import recover
from flows.commit.repair import find_damaged_files
from flows.commit.verify import verify_generation
from flows.commit.write import write_plan
from flows.derive.freeze import freeze, plan_rows
from flows.run.hold import check_hold
from flows.run.leases import hold_lease
from flows.run.open_source import source_cache
from flows.run.opening import open_existing, open_pipeline_for
from flows.run.pipeline import Pipeline
from flows.run.work import Difference
from indexes.layout import remedy
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from ingest.diff.tools import without_tools
from runtime.settings import read_settings
from schemas.changes import ChangeKind, DocumentChange
from schemas.errors import ConfigError, DamageFound
from schemas.source import Source


def drop_source(name: str, *, index: str | None = None) -> dict[str, Any]:
    """Remove every row of a source and forget its crawl state; give what went.

    Where readers see nothing of it there is no generation to make: `generation` is None.

    Raises: ConfigError: the index has no source of that name; GuardRefused: publishing is held; DamageFound:
    the index is damaged.
    """
    opened = open_existing(read_settings(index=index))
    check_hold(opened.layout)
    source = Source(name=name, kind="files")
    with open_pipeline_for(opened, source) as pipeline:
        lease = hold_lease(
            opened.ledger.leases,
            "index",
            clock=opened.clock,
            progress=pipeline.progress,
            stop=pipeline.stop,
            wait=True,
        )
        with lease as held:
            for path, what in find_damaged_files(opened):
                raise DamageFound(f"{what}; {remedy(opened.layout.root)}", subject=path)
            recover(pipeline, lease=held)
            return _drop(pipeline, held)


def _drop(pipeline: Pipeline, lease: Lease) -> dict[str, Any]:
    ledger, name = pipeline.index.ledger, pipeline.source.name
    difference = plan_drop(pipeline)
    if not difference.changes and not ledger.documents.count(name):
        known = ", ".join(sorted(ledger.documents.states())) or "none"
        raise ConfigError(f"no such source; this index has: {known}", subject=name)
    generation = _publish(pipeline, difference, lease) if difference.changes else None
    ledger.documents.forget(name)
    collect(pipeline.index, source=name)
    rmtree(source_cache(pipeline.index.settings, name), ignore_errors=True)
    return {
        "source": name,
        "generation": generation.generation if generation else None,
        "documents": difference.documents["gone"],
        "chunks": generation.details["chunks"]["removed"] if generation else 0,
    }


def plan_drop(pipeline: Pipeline) -> Difference:
    """Every document of the source goes."""
    base = pipeline.index.current()
    live = pipeline.index.ledger.generations.live(base, source=pipeline.source.name)
    changes = tuple(
        DocumentChange(kind=ChangeKind.REMOVED, old=document, new=None, reason="source dropped")
        for document in live.values()
    )
    return Difference(base=base, changes=changes, documents={"gone": len(without_tools(live))})


def _publish(pipeline: Pipeline, difference: Difference, lease: Lease) -> Generation:
    as_of = pipeline.index.now()
    planned = plan_rows(pipeline, difference, as_of=as_of)
    generation = freeze(pipeline, difference, planned, lease=lease, as_of=as_of)
    staged = write_plan(pipeline, generation, lease=lease)
    verify_generation(pipeline, generation, staged)
    publish_generation(pipeline, generation, staged, lease=lease)
    return generation
