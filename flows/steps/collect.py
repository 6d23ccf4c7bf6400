"""Deleting what was fetched, parsed or exported once and is needed no more."""

import threading
from contextlib import AbstractContextManager

from flows.leasing import hold_lease
from flows.progress import StageProgress
from flows.wiring import Index
from indexes.chunk_tables import drop_encoders
from indexes.stores.ledger.leases import Lease

COLLECTION = "collection"
"""Lease of whoever deletes files; a run waits for it once, after it took its source's lease."""


def collect(index: Index, *, source: str) -> int:
    """Delete files that no document and no kept generation needs; give how many went.

    For a run of *source* that holds the index lease and has done its crawl. Where another source is being
    crawled nothing is deleted: its files, and its encoder, are written before anything names them.
    """
    with _collecting(index, progress=StageProgress(quiet=True), stop=threading.Event()):
        now = index.clock.now().isoformat(timespec="milliseconds")
        if index.ledger.leases.held(now=now) - {"index", COLLECTION, f"source:{source}"}:
            return 0
        dropped = index.raw.drop_all_but(index.ledger.retention.raw_shas())
        index.crash_point("collect.midway")
        retention = index.ledger.retention
        dropped += index.fragments.drop_all_but(retention.fragment_shas() | retention.pages_shas())
        index.ledger.links.collect()
        index.ledger.names.collect()
        index.ledger.origins.collect()
        index.ledger.pages.collect()
        index.ledger.soft_errors.collect()
        drop_encoders(index.layout, index.manifest)
        return dropped


def wait_for_collection(index: Index, *, progress: StageProgress, stop: threading.Event) -> None:
    """Let a deletion that has begun come to its end; one that begins later sees the caller's own lease."""
    with _collecting(index, progress=progress, stop=stop):
        pass


def _collecting(
    index: Index, *, progress: StageProgress, stop: threading.Event
) -> AbstractContextManager[Lease]:
    leases, clock = index.ledger.leases, index.clock
    return hold_lease(leases, COLLECTION, clock=clock, progress=progress, stop=stop, wait=True)
