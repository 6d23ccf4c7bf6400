"""Taking a source out of the index, as a generation of its own."""

from contextlib import closing
from shutil import rmtree
from typing import Any

from flows.audiences.update import drop_from_audiences, update_audiences
from flows.commit.publish import collect_garbage, prune_generations
from flows.commit.recover import finish_interrupted, publish_rows
from flows.commit.restore import find_damaged_files
from flows.derive.freeze import plan_rows
from flows.run.index import Index
from flows.run.leases import check_hold
from flows.run.opening import hold_source, open_existing
from flows.run.resources import Resources
from flows.run.sources import source_cache
from flows.run.values import Difference, Run
from indexes.layout import remedy
from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from ingest.diff.documents import without_tools
from schemas.changes import ChangeKind, DocumentChange
from schemas.errors import ConfigError, DamageFound
from schemas.settings import Settings
from schemas.source import Source


def drop_source(name: str, settings: Settings) -> dict[str, Any]:
    """Remove every row of a source and forget its crawl state; give what went.

    Where readers see nothing of it there is no generation to make: `generation` is None.

    Raises: ConfigError: the index has no source of that name; GuardRefused: publishing is held; DamageFound:
    the index is damaged.
    """
    opened = open_existing(settings)
    check_hold(opened.layout)
    source = Source(name=name, kind="files")
    with hold_source(opened, name) as held:
        run = Run(index=str(opened.layout.root), source=name, run_id="")
        resources = Resources(run, index=opened, source=source, progress=held.progress, stop=held.stop)
        with closing(resources), opened.hold(progress=held.progress, stop=held.stop) as index_lease:
            for path, what in find_damaged_files(opened):
                raise DamageFound(f"{what}; {remedy(opened.layout.root)}", subject=path)
            finish_interrupted(resources.indexing(), lease=index_lease)
            return _drop(resources, index_lease)


def _drop(resources: Resources, lease: Lease) -> dict[str, Any]:
    index, name = resources.index, resources.source.name
    ledger, difference = index.ledger, plan_drop(index, name)
    if not difference.changes and not ledger.documents.count(name):
        known = ", ".join(sorted(ledger.documents.states())) or "none"
        raise ConfigError(f"no such source; this index has: {known}", subject=name)
    drop_from_audiences(resources, name)
    generation = _publish(resources, difference, lease) if difference.changes else None
    ledger.documents.forget(name)
    prune_generations(index, source=name) if generation else collect_garbage(index, source=name)
    update_audiences(resources, sources=())
    rmtree(source_cache(index.settings, name), ignore_errors=True)
    return {
        "source": name,
        "generation": generation.generation if generation else None,
        "documents": difference.documents["gone"],
        "chunks": generation.details["chunks"]["removed"] if generation else 0,
    }


def plan_drop(index: Index, source: str) -> Difference:
    """Every document of the source goes."""
    base = index.current()
    live = index.ledger.generations.live(base, source=source)
    changes = tuple(
        DocumentChange(kind=ChangeKind.REMOVED, old=document, new=None, reason="source dropped")
        for document in live.values()
    )
    return Difference(base=base, changes=changes, documents={"gone": len(without_tools(live))})


def _publish(resources: Resources, difference: Difference, lease: Lease) -> Generation:
    as_of = resources.index.now()
    planned = plan_rows(resources.indexing(), difference, as_of=as_of)
    return publish_rows(resources, difference, planned, lease=lease, as_of=as_of)
