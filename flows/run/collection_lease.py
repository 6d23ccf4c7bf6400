"""The lease under which files that nothing names are deleted; runs wait for it before they begin."""

import threading
from contextlib import AbstractContextManager

from flows.run.index import Index
from flows.run.leases import hold_lease
from indexes.stores.ledger.leases import Lease
from runtime.progress import StageProgress

COLLECTION = "collection"
"""Lease of whoever deletes files; a run waits for it once, after it took its source's lease."""


def wait_for_collection(index: Index, *, progress: StageProgress, stop: threading.Event) -> None:
    """Let a deletion that has begun come to its end; one that begins later sees the caller's own lease."""
    with hold_collection(index, progress=progress, stop=stop):
        pass


def hold_collection(
    index: Index, *, progress: StageProgress, stop: threading.Event
) -> AbstractContextManager[Lease]:
    """Hold the lease of whoever deletes files, once nobody else does."""
    leases, clock = index.ledger.leases, index.clock
    return hold_lease(leases, COLLECTION, clock=clock, progress=progress, stop=stop, wait=True)
