"""Deleting what was fetched, parsed or exported once and is needed no more."""

import threading
from collections.abc import Callable

from flows.run.collection_lease import COLLECTION, hold_collection
from flows.run.index import Index
from flows.run.kept_generations import require_current
from indexes.chunk_tables import drop_encoders
from indexes.ports import RawStore
from indexes.stores.ledger.replaced import FileKind
from runtime.progress import StageProgress


def collect(index: Index, *, source: str) -> int:
    """Delete files that were replaced and that no document and no kept generation needs; give how many.

    For a run of *source* that holds the index lease and has done its crawl. Only what lost a name since the
    last time is looked at, and everything after a crawl that broke off. Where another source is being crawled
    nothing is deleted: its files, and its encoder, are written before anything names them.
    """
    due = index.ledger.retention.is_sweep_due()
    return _alone(index, _drop_unnamed if due else _drop_replaced, beside=source)


def sweep(index: Index) -> int:
    """Delete every file that no document and no kept generation needs, by listing all; give how many went.

    For maintenance: whoever calls it holds the index lease and no lease of a source. It also finds what no
    run can, files that a killed process wrote before anything named them, and costs in proportion to all
    there is. Done twice, or cut off and done again, it gives the same. While a source is being crawled it
    deletes nothing.

    Raises: DamageFound: what readers see is not known, so nothing is deleted.
    """
    require_current(index)
    return _alone(index, _drop_unnamed)


def _alone(index: Index, drop: Callable[[Index], int], *, beside: str = "") -> int:
    """Drop files while nobody crawls but the run of *beside*, which has done so."""
    with hold_collection(index, progress=StageProgress(quiet=True), stop=threading.Event()):
        now = index.clock.now().isoformat(timespec="milliseconds")
        if index.ledger.leases.held(now=now) - {"index", COLLECTION, f"source:{beside}"}:
            return 0
        dropped = drop(index)
        drop_encoders(index.layout, index.manifest)
        return dropped


def _drop_replaced(index: Index) -> int:
    # Files first: cut off in between, the next run finds them noted still.
    dropped = _drop_of_kind(index, FileKind.RAW, index.raw)
    index.crash_point("collect.midway")
    return dropped + _drop_of_kind(index, FileKind.FRAGMENT, index.fragments)


def _drop_of_kind(index: Index, kind: FileKind, store: RawStore) -> int:
    retention = index.ledger.retention
    replaced = retention.replaced(kind)
    unneeded = retention.unneeded(kind, replaced)
    for sha256 in sorted(unneeded):
        store.drop(sha256)
    retention.forget(kind, replaced, deleted=unneeded)
    return len(unneeded)


def _drop_unnamed(index: Index) -> int:
    retention = index.ledger.retention
    dropped = index.raw.drop_all_but(retention.raw_shas())
    index.crash_point("collect.midway")
    dropped += index.fragments.drop_all_but(retention.fragment_shas() | retention.pages_shas())
    index.ledger.links.collect()
    index.ledger.names.collect()
    index.ledger.origins.collect()
    index.ledger.pages.collect()
    index.ledger.soft_errors.collect()
    index.ledger.coverage.collect()
    index.ledger.matches.collect()
    index.ledger.access.collect()
    retention.swept()
    return dropped
