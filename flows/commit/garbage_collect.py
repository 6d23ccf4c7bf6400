"""Deleting what was fetched, parsed or exported once and is needed no more."""

import threading

from flows.run.collection_lease import COLLECTION, _collecting
from flows.run.index import Index
from indexes.chunk_tables import drop_encoders
from runtime.progress import StageProgress


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
        index.ledger.matches.collect()
        drop_encoders(index.layout, index.manifest)
        return dropped
