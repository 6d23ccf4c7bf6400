"""The walk of a run without Prefect, as far as nothing is new: what most scheduled runs are, all of them.

docs/decisions/0019-no-prefect-for-no-change.md says why.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, TypeVar

from flows import tasks
from flows.commit.rebuild_stores import Repair, find_damaged_files
from flows.commit.show import show_missed
from flows.crawl.parse import parse_batch
from flows.run.hold import check_hold
from flows.run.resources import Resources
from flows.run.stages import Stages
from flows.run.values import Batch, ComparedSource, CrawlWave, Embedded, FetchedBatch, Recovered, Run
from flows.run.vector_space import changes_model
from flows.walk import Work, walk
from ingest.parse.formats.registry import document_versions
from schemas.causes import caused_by
from schemas.cost import Cause
from schemas.errors import SitegraphError
from schemas.report import RunReport

SHARDS_AT_ONCE = 4
LANCE = "lance"

R = TypeVar("R")


class FlowNeeded(Exception):
    """There is more to do than to look; the flow goes on with the same run."""


def look(resources: Resources, *, due: bool, stages: Stages) -> RunReport | None:
    """Look at every document that is due; the report where readers see all that there is, None elsewhere.

    Raises what the flow would raise.
    """
    try:
        return walk(resources, LookEngine(resources), due=due, stages=stages)
    except FlowNeeded:
        resources.count_again()
        return None
    except SitegraphError:
        resources.count_again()
        raise


class LookEngine:
    """Runs stages at once, and gives up where there is something to parse, to repair or to publish."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def begin(self, resources: Resources) -> None:
        """Give up on a first run, a repair, a lost ledger, and a change of model."""
        index = resources.index
        unknown = index.current() == 0 or index.ledger.generations.get(index.current()) is None
        if unknown or resources.run.repair or changes_model(resources.deriving()):
            raise FlowNeeded

    def call(self, stage: Callable[..., R], *values: Any) -> R:
        """Run a stage of those that only look."""
        if stage is tasks.parse_leftovers:
            self._require_parsed()
        if stage is tasks.recover:
            with caused_by(Cause.RECOVER):
                return self._recover()  # type: ignore[return-value]
        result: R = stage.fn(*values)  # type: ignore[attr-defined]
        if isinstance(result, ComparedSource) and result.difference is not None:
            raise FlowNeeded
        return result

    def crawl_wave(self, run: Run, wave: CrawlWave) -> Sequence[Work]:
        """Shards side by side, the batches of each in turn; all end soon where one finds something to parse.

        So do they where one fails; `stop` is set only where the run is to end: the flow goes on with it.
        """
        found = threading.Event()
        shards = [tuple(batches) for _, batches in groupby(wave.batches, key=lambda batch: batch.shard)]
        with ThreadPoolExecutor(max_workers=SHARDS_AT_ONCE) as pool:
            try:
                futures = [pool.submit(self._crawl_shard, run, batches, found) for batches in shards]
                done = [one for future in futures for one in future.result()]
            except SitegraphError:
                raise
            except BaseException:
                found.set()
                self._resources.stop.set()
                raise
        if found.is_set():
            looked_at = sum(one.documents for one in done if isinstance(one, FetchedBatch))
            planned = sum(len(batch.uris) for batch in wave.batches)
            self._resources.progress.expect("fetch", looked_at - planned)  # the flow plans them again
            raise FlowNeeded
        return done

    def embed(self, run: Run, compared: ComparedSource) -> Callable[[], Sequence[Embedded]]:  # noqa: ARG002
        """Nothing is to be embedded where nothing changed."""
        raise FlowNeeded

    def _crawl_shard(self, run: Run, batches: Sequence[Batch], found: threading.Event) -> list[Work]:
        done: list[Work] = []
        for batch in batches:
            if found.is_set():
                break
            try:
                fetched: FetchedBatch = tasks.fetch.fn(run, batch, None)
                if fetched.to_parse:
                    found.set()
                # Nothing of these is parsed, but stubs still redirect, and bytes with secrets are not kept.
                known = [uri for uri in batch.uris if uri not in fetched.to_parse]
                with caused_by(Cause.PARSE):
                    done += [fetched, parse_batch(self._resources.crawling(), known)]
            except SitegraphError:
                found.set()
                raise
        return done

    def _require_parsed(self) -> None:
        index, versions = self._resources.index, document_versions(self._resources.pipeline_version)
        if index.ledger.documents.unparsed(self._resources.run.source, pipeline_versions=versions):
            raise FlowNeeded

    def _recover(self) -> Recovered:
        """See that there is nothing to finish or to repair."""
        context = self._resources.committing()
        index = context.index
        context.crash_point("lease.acquired")
        if not self._resources.run.accept:
            check_hold(index.layout)
        if index.ledger.generations.unfinished():
            raise FlowNeeded
        if find_damaged_files(index, writes=False):
            raise FlowNeeded
        if index.manifest.graph != LANCE:  # whose graph people do not look into, and which is slow to open
            show_missed(context)
        return Recovered(repair=Repair.NOTHING)
