"""The walk of a run as far as nothing is new; what most scheduled runs are from beginning to end.

It does what flows/recrawl.py does, without Prefect, and gives up where there is more to do than to look: the
flow then goes on with the same run. docs/decisions/0019-no-prefect-for-no-change.md says why.
"""

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import groupby

from flows.commit.garbage_collect import collect
from flows.commit.repair import find_damaged_files
from flows.commit.report import record_run
from flows.commit.show import show_missed
from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import needs_parsing, parse_batch
from flows.crawl.plan import Batch, plan_source, plan_wave
from flows.crawl.quarantine import quarantine_and_deduplicate
from flows.derive.diff import check_seeds, diff_source
from flows.derive.link import redirects_matter
from flows.run.hold import check_hold
from flows.run.leases import hold_lease
from flows.run.pipeline import Pipeline, changes_model
from flows.run.stages import Stages
from flows.run.work import Work, start_work
from indexes.stores.ledger.leases import Lease
from ingest.parse.formats.registry import document_versions
from schemas.errors import SitegraphError
from schemas.report import RunReport

SHARDS_AT_ONCE = 4
LANCE = "lance"


def look(pipeline: Pipeline, *, due: bool, accept: bool, stages: Stages) -> RunReport | None:
    """Look at every document that is due; the report where readers see all that there is, None elsewhere.

    Raises what the flow would raise.
    """
    index = pipeline.index
    if index.current() == 0 or pipeline.repair or changes_model(pipeline):
        return None
    with stages.timed("crawl"):
        if not _crawl(pipeline, due_by=index.now() if due else None):
            return None
        check_seeds(pipeline, quarantine_and_deduplicate(pipeline, accept=accept), accept=accept)
    with ExitStack() as stack:
        with stages.timed("wait"):
            lease = stack.enter_context(
                hold_lease(
                    index.ledger.leases,
                    "index",
                    clock=index.clock,
                    progress=pipeline.progress,
                    stop=pipeline.stop,
                    wait=True,
                )
            )
        return _compare(pipeline, lease, stages, accept=accept)


def _crawl(pipeline: Pipeline, *, due_by: str | None) -> bool:
    """Fetch wave after wave; false as soon as there is something to parse."""
    plan_source(pipeline, due_by=due_by)
    documents = pipeline.index.ledger.documents
    versions = document_versions(pipeline.pipeline_version)
    if documents.unparsed(pipeline.source.name, pipeline_versions=versions):
        return False
    while wave := plan_wave(pipeline, due_by=due_by):
        if not _fetch_wave(pipeline, wave):
            return False
    return True


def _fetch_wave(pipeline: Pipeline, wave: Sequence[Batch]) -> bool:
    """Shards side by side, the batches of each in turn; all end soon where one finds something to parse.

    So do they where one fails; `stop` is set only where the run is to end, since the flow goes on with it.
    """
    found = threading.Event()
    shards = [tuple(batches) for _, batches in groupby(wave, key=lambda batch: batch.shard)]
    with ThreadPoolExecutor(max_workers=SHARDS_AT_ONCE) as pool:
        try:
            for future in [pool.submit(_fetch_shard, pipeline, batches, found) for batches in shards]:
                future.result()
        except SitegraphError:
            raise
        except BaseException:
            found.set()
            pipeline.stop.set()
            raise
    return not found.is_set()


def _fetch_shard(pipeline: Pipeline, batches: Iterable[Batch], found: threading.Event) -> None:
    for batch in batches:
        if found.is_set():
            return
        pipeline.progress.expect("fetch", len(batch.uris))
        try:
            if not _fetch_unchanged(pipeline, batch):
                found.set()
        except SitegraphError:
            found.set()
            raise


def _fetch_unchanged(pipeline: Pipeline, batch: Batch) -> bool:
    """Fetch a batch and deal with what was read before; false where there is something to parse."""
    fetch_batch(pipeline, batch.uris)
    known = pipeline.index.ledger.documents.get(pipeline.source.name, batch.uris)
    new = {uri for uri, document in known.items() if needs_parsing(pipeline, document)}
    # Nothing of these is parsed, but stubs still redirect, and bytes with secrets are not kept.
    parse_batch(pipeline, [uri for uri in batch.uris if uri not in new])
    return not new


def _compare(pipeline: Pipeline, lease: Lease, stages: Stages, *, accept: bool) -> RunReport | None:
    """What the crawl left against what readers see; None where they would see anything else."""
    index = pipeline.index
    pipeline.crash_point("lease.acquired")
    if not accept:
        check_hold(index.layout)
    if index.ledger.generations.unfinished() or index.ledger.generations.get(index.current()) is None:
        return None
    with stages.timed("recover"):
        if find_damaged_files(index, writes=False):
            return None
        if index.manifest.graph != LANCE:  # whose graph people do not look into, and which is slow to open
            show_missed(pipeline)
    with stages.timed("diff"):
        difference = diff_source(pipeline, accept=accept)
        if changes_model(pipeline) or difference.changes or redirects_matter(pipeline, difference):
            return None
    as_of = index.now()
    work = start_work(pipeline.run_id, Work(difference=difference, lease=lease, as_of=as_of, accept=accept))
    if index.has_grown:
        with stages.timed("collect"):
            collect(index, source=pipeline.source.name)
    pipeline.crash_point("report.before")
    return record_run(pipeline, work, stages)
