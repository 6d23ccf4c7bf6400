"""Making a new index: by one process at a time, whole or not at all.

`index.json` is written last and makes the folder an index; what is there without it is made again.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager

from flows.run.leases import hold_index
from flows.run.models import find_model, manifest_of
from indexes.file_lock import locked
from indexes.layout import IndexLayout
from indexes.manifest import FILES, IndexManifest, dump_manifest
from indexes.own_ledger import ledger_url_of
from indexes.places import is_in_bucket, remove_tree, write_durably
from indexes.publish.current import write_current
from indexes.stores.ledger.ledger import open_ledger
from indexes.wiring import create_stores
from runtime.clock import SystemClock
from runtime.fault_points import crash_point
from runtime.progress import StageProgress
from runtime.settings import check_makeable
from schemas.errors import ConfigError
from schemas.settings import Settings


def create_index(layout: IndexLayout, settings: Settings, index_id: str) -> None:
    """Make the index, unless another process is first: then wait until it is made.

    What fails leaves nothing behind. Raises: ConfigError: the folder is somebody's own, the ledger is another
    index's, or a setting is wrong; StoreUnavailable: a store or the ledger cannot be reached.
    """
    ledger_url_of(layout, settings.ledger_url)  # refused before anything is made
    if layout.is_foreign():
        raise ConfigError("is not empty and not an index; choose another --index", subject=str(layout.root))
    check_makeable(layout.root)
    with _undone_on_failure(layout), _alone(layout, settings):
        if not layout.manifest.exists():
            # What a killed one left may be of another model.
            _clear(layout)
            with _cleared_on_failure(layout):
                _make(layout, settings, index_id)


def _alone(layout: IndexLayout, settings: Settings) -> AbstractContextManager[object]:
    """Keep others from making the index: those of this machine or folder, of a bucket all of one ledger."""
    return _leased(layout, settings) if is_in_bucket(layout.root) else locked(layout.making)


@contextmanager
def _leased(layout: IndexLayout, settings: Settings) -> Iterator[None]:
    clock, progress = SystemClock(), StageProgress(quiet=True)
    with closing(open_ledger(ledger_url_of(layout, settings.ledger_url))) as ledger:
        lease = hold_index(ledger.leases, clock=clock, progress=progress, stop=threading.Event())
        with lease:
            yield


def _make(layout: IndexLayout, settings: Settings, index_id: str) -> None:
    crash = crash_point(settings.fault)
    if settings.ledger_url:
        with closing(open_ledger(settings.ledger_url)) as ledger:
            ledger.owner.check(index_id)
    manifest = IndexManifest(
        index_id=index_id,
        graph=settings.graph or "lance",
        model=manifest_of(find_model(settings)),
        raw=settings.raw_url or FILES,
    )
    create_stores(layout, manifest, settings.environment())
    crash("create.stores_made")
    write_current(layout.root, 0)
    crash("create.before_manifest")
    write_durably(layout.manifest, dump_manifest(manifest))
    crash("create.before_claim")
    if settings.ledger_url:
        # After `index.json`: a ledger claimed for an index that is never made would be of no more use.
        with closing(open_ledger(settings.ledger_url)) as ledger:
            ledger.owner.claim(index_id)


@contextmanager
def _cleared_on_failure(layout: IndexLayout) -> Iterator[None]:
    try:
        yield
    except BaseException:
        _clear(layout)
        raise


def _clear(layout: IndexLayout) -> None:
    for path in (layout.manifest, *layout.first_made()):
        remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)


@contextmanager
def _undone_on_failure(layout: IndexLayout) -> Iterator[None]:
    """Remove the folder with what was made in it, unless it was there before."""
    existed = is_in_bucket(layout.root) or layout.root.is_dir()
    try:
        yield
    except BaseException:
        if not existed and layout.root.is_dir() and not any(layout.root.iterdir()):
            layout.root.rmdir()
        raise
