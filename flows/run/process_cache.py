"""What this process has open for runs, and the lease under which workers take part in them."""

import atexit
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from flows.run.index import Index, open_index
from flows.run.leases import is_dead, is_this_machine
from flows.run.resources import Resources
from flows.run.values import Run
from indexes.embed.encoder import offline_environment
from indexes.stores.ledger.leases import Lease
from runtime.clock import SystemClock
from runtime.progress import StageProgress
from runtime.settings import read_settings
from schemas.errors import ConfigError, StaleLease, Stopped, TransientError

POLL_SECONDS = 2.0
"""Between two looks of a worker at the lease; a stop takes as long, and the document that it is at."""


def lease_of(source: str) -> str:
    """What the lease is called under which workers take part in a run of *source*."""
    return f"work:{source}"


@contextmanager
def lent(resources: Resources) -> Iterator[Run]:
    """Give the run as workers know it; when the block ends, theirs does, and when this process dies.

    A token in it tells workers of this run from those of the same run before it was interrupted.
    """
    index, run = resources.index, resources.run
    with index.hold(lease_of(run.source), progress=resources.progress, stop=resources.stop) as held:
        yield replace(run, token=held.token, pipeline_version=resources.pipeline_version)


def check_lent(run: Run, index: Index) -> None:
    """See that the work is still wanted, and that this machine may do it.

    Raises: Stopped: the run has ended, or was taken over; ConfigError: the ledger is another machine's.
    """
    leases = index.ledger.leases
    try:
        leases.check(Lease(name=lease_of(run.source), holder="", token=run.token))
    except StaleLease as error:
        raise _stopped(run) from error
    holder = leases.holder(lease_of(run.source), now=_now(index.clock))
    if holder is None or is_dead(holder):
        raise _stopped(run)
    if index.ledger.engine.dialect.name == "sqlite" and not is_this_machine(holder):
        raise ConfigError(
            "workers on other machines cannot share a ledger in SQLite; keep it in PostgreSQL: set "
            "SITEGRAPH_LEDGER_URL for a new index",
            subject=str(index.layout.root),
        )


def check_version(run: Run, resources: Resources) -> None:
    """Raises: ConfigError: this worker would parse otherwise than the process that began the run."""
    if run.pipeline_version != resources.pipeline_version:
        raise ConfigError(
            "a worker has another version of sitegraph, of its parsers or of the model than the run; install "
            "the same packages, and set the same SITEGRAPH_ variables, wherever workers run",
            subject=run.source,
        )


def watch_lease(run: Run, resources: Resources, *, on_end: Callable[[Run], None]) -> None:
    """Stop the stages of this process once the work is no longer wanted, then call *on_end*."""

    def look() -> None:
        while not resources.stop.wait(POLL_SECONDS):
            try:
                check_lent(run, resources.index)
            except TransientError:
                continue  # a stage that needs the ledger says so itself
            except (Stopped, ConfigError):
                resources.stop.set()
        on_end(run)

    threading.Thread(target=look, name="watch-lease", daemon=True).start()


def _stopped(run: Run) -> Stopped:
    return Stopped("the run that lent this work has ended; run again to continue", subject=run.source)


def _now(clock: SystemClock) -> str:
    return clock.now().isoformat(timespec="milliseconds")


def open_resources(run: Run) -> Resources:
    """Open the parts of a run from its name; the source is the ledger's, settings are this process's.

    Raises: ConfigError: no index there, or no such source in it.
    """
    settings = replace(read_settings(model=run.model), index=run.index)
    index = open_index(settings)
    with closing_on_error(index):
        if run.token:
            check_lent(run, index)
        source = index.ledger.sources.all().get(run.source)
        if source is None:
            raise ConfigError("the index knows no such source; start its run first", subject=run.source)
        resources = Resources(run, index=index, source=source, progress=StageProgress(quiet=True))
        return _as_worker(resources) if run.token else resources


def _as_worker(resources: Resources) -> Resources:
    """Prepare a process that others have started for work that may end at any time."""
    check_version(resources.run, resources)
    os.environ.update({k: v for k, v in offline_environment().items() if k not in os.environ})
    # Dask makes its workers daemons, which may have no children; ours end by themselves when this one dies.
    multiprocessing.current_process().daemon = False
    watch_lease(resources.run, resources, on_end=_OPENED.end)
    return resources


@contextmanager
def closing_on_error(index: Index) -> Iterator[None]:
    """Close what was opened in vain."""
    try:
        yield
    except BaseException:
        index.close()
        raise


class _Opened:
    """The resources of this process by run, and how many stages use them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_run: dict[Run, Resources] = {}
        self._users: dict[Run, int] = {}
        self._ended: set[Run] = set()

    def share(self, run: Run, resources: Resources) -> None:
        with self._lock:
            self._ended.discard(run)  # one that is resumed has the name that it had
            self._by_run[run] = resources
            self._users[run] = self._users.get(run, 0) + 1

    def take(self, run: Run) -> Resources:
        with self._lock:
            if run in self._ended:
                raise Stopped("the run has ended", subject=run.source)
            if run not in self._by_run:
                self._by_run[run] = open_resources(run)
            self._users[run] = self._users.get(run, 0) + 1
            return self._by_run[run]

    def leave(self, run: Run) -> None:
        """Close what nobody uses but for the run used last: the next stage is most likely one of it."""
        with self._lock:
            self._users[run] = self._users.get(run, 0) - 1
            over = self._ended | (self._users.keys() - {run})
            idle = [other for other, users in self._users.items() if users <= 0 and other in over]
            closed = [self._forget(other) for other in idle]
        for resources in closed:
            if resources is not None:
                resources.close()

    def end(self, run: Run) -> None:
        """Let no further stage of the run begin, and close what it has open once nobody uses it."""
        with self._lock:
            self._ended.add(run)
            idle = self._users.get(run, 0) <= 0
            closed = self._forget(run) if idle else None
        if closed is not None:
            closed.close()

    def drop(self, run: Run) -> None:
        with self._lock:
            self._ended.add(run)
            self._forget(run)

    def close_all(self) -> None:
        with self._lock:
            closed = [self._forget(run) for run in tuple(self._by_run)]
        for resources in closed:
            if resources is not None:
                resources.close()

    def _forget(self, run: Run) -> Resources | None:
        self._users.pop(run, None)
        return self._by_run.pop(run, None)


_OPENED = _Opened()
# Later than this the threads that connections need to close are gone, and a process would wait for them.
atexit.register(_OPENED.close_all)


@contextmanager
def resources_of(run: Run) -> Iterator[Resources]:
    """The parts of a run in this process, opened where no stage has been given them before."""
    resources = _OPENED.take(run)
    try:
        yield resources
    finally:
        _OPENED.leave(run)


@contextmanager
def shared(resources: Resources) -> Iterator[None]:
    """Give the stages that this process works on in the block these parts, which the caller closes.

    A stage of the run that begins after the block is stopped: its lease has ended.
    """
    _OPENED.share(resources.run, resources)
    try:
        yield
    finally:
        _OPENED.drop(resources.run)
