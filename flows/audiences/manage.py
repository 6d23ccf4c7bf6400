"""`sitegraph audiences`: declaring audiences, dropping them, and bringing them up to date without a run."""

import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from shutil import rmtree

from flows.audiences.open import declare_audience, open_audience
from flows.audiences.update import Updated, update_audiences
from flows.run.hold import check_hold
from flows.run.index import Index
from flows.run.leases import hold_index, hold_lease
from flows.run.resources import Resources
from flows.run.values import Run
from indexes.audiences import FILE, audiences_of
from runtime.progress import StageProgress
from schemas.access import PUBLIC, Groups, audience_name
from schemas.errors import ConfigError
from schemas.source import Source

LANCE = "lance"


def change_audiences(
    index: Index, *, add: Collection[Groups], drop: Collection[Groups], sync: bool, quiet: bool
) -> tuple[Updated, ...]:
    """Declare and build audiences, and take others away; with *sync*, bring all up to date.

    Sends no request, and reads no source file: sources are as their last runs read them.
    Raises: ConfigError: there is no such audience to drop; StoreUnavailable: a source is being crawled;
    PublishHeld: publishing has been held since a rollback.
    """
    _check_droppable(index, drop)
    if add or sync:
        check_hold(index.layout)
    with _held(index, quiet=quiet) as parts:
        for groups in drop:
            _drop(index, groups)
        added = [declare_audience(index, groups).name for groups in (*add, *([frozenset()] if add else []))]
        if not (added or sync):
            return ()
        names = None if sync else added
        return update_audiences(parts, sources=index.ledger.sources.all().keys(), names=names)


def _check_droppable(index: Index, drop: Collection[Groups]) -> None:
    known = {one.name for one in audiences_of(index.layout.root)}
    for groups in drop:
        name = audience_name(groups)
        if name not in known:
            have = ", ".join(sorted(known)) or "none"
            raise ConfigError(f"no audience {name}; this index has: {have}", subject="--drop")
        if name == PUBLIC and (len(known) > len(drop) or is_stated(index)):
            raise ConfigError(
                f"{PUBLIC} cannot be dropped while anything states access: readers without a group see it",
                subject="--drop",
            )


def is_stated(index: Index) -> bool:
    """Whether a source or a document says who may see it."""
    sources = index.ledger.sources.all().values()
    return index.ledger.access.is_stated() or any(source.access.is_stated for source in sources)


def _drop(index: Index, groups: Groups) -> None:
    (audience,) = (one for one in audiences_of(index.layout.root) if one.groups == groups)
    with open_audience(index, audience) as opened:
        # First: from here on nobody finds it, whatever comes between.
        (audience.folder / FILE).unlink()
        if opened.manifest.graph != LANCE:
            _empty_graph(opened)
    rmtree(audience.folder)


def _empty_graph(opened: Index) -> None:
    """Leave nothing of an audience in a graph store that others share."""
    number, writer = opened.current() + 1, opened.graph.writer()
    writer.stage(number, base=0)
    writer.finish(number)
    writer.prune(keep=(number,))


@contextmanager
def _held(index: Index, *, quiet: bool) -> Iterator[Resources]:
    """Hold the index and all of its sources, and give the parts to update audiences with."""
    stop = threading.Event()
    with ExitStack() as stack:
        progress = stack.enter_context(StageProgress(quiet=quiet))
        leases, clock = index.ledger.leases, index.clock
        for name in index.ledger.sources.all():
            of_source = f"source:{name}"
            stack.enter_context(
                hold_lease(leases, of_source, clock=clock, progress=progress, stop=stop, wait=False)
            )
        stack.enter_context(hold_index(leases, clock=clock, progress=progress, stop=stop))
        run = Run(index=str(index.layout.root), source="", run_id="")
        source = Source(name="", kind="files")
        yield stack.enter_context(
            closing(Resources(run, index=index, source=source, progress=progress, stop=stop))
        )
