"""Work lent to other processes: the lease they do it under, and how they learn that it has ended."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from flows.run.index import Index
from flows.run.leases import hold_lease, is_dead, is_this_machine
from flows.run.resources import Resources
from flows.run.values import Run
from indexes.stores.ledger.leases import Lease
from runtime.clock import SystemClock
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
    with hold_lease(
        index.ledger.leases,
        lease_of(run.source),
        clock=index.clock,
        progress=resources.progress,
        stop=resources.stop,
        wait=True,
    ) as held:
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
