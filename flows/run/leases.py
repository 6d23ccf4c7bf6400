"""Holding a lease for as long as the work takes, taking over from the dead, and holding publishing."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from indexes.layout import IndexLayout
from indexes.places import write_durably
from indexes.publish.current import held_since, hold_file
from indexes.stores.ledger.leases import Lease, Leases
from runtime.clock import SystemClock
from runtime.progress import StageProgress
from schemas.advice import ADVICE, Trouble
from schemas.errors import PublishHeld, StaleLease, Stopped, StoreUnavailable, TransientError

TTL = timedelta(seconds=60)
POLL_SECONDS = 0.5
INDEX = "index"

_ENDED = ("Z", "X", "x")
_UNKNOWN = "unknown"


@contextmanager
def hold_lease(
    leases: Leases,
    name: str,
    *,
    clock: SystemClock,
    progress: StageProgress,
    stop: threading.Event,
    wait: bool,
) -> Iterator[Lease]:
    """Hold the lease inside the block, renewed in the background.

    Raises: StoreUnavailable: somebody else holds it and *wait* is false; Stopped: while waiting.
    """
    held = _acquire(leases, name, clock=clock, progress=progress, stop=stop, wait=wait)
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(leases, held, clock, done), daemon=True)
    keeper.start()
    try:
        yield held
    finally:
        done.set()
        keeper.join()
        leases.release(held)


def _acquire(
    leases: Leases,
    name: str,
    *,
    clock: SystemClock,
    progress: StageProgress,
    stop: threading.Event,
    wait: bool,
) -> Lease:
    told = False
    while True:
        now, expires = _iso(clock), _iso(clock, TTL)
        if held := leases.acquire(name, holder=_me(), now=now, expires_at=expires):
            return held
        holder = leases.holder(name, now=now) or "another run"
        if is_dead(holder):
            leases.break_(name, holder=holder)
            continue
        if not wait:
            raise StoreUnavailable(f"held by {told_holder(holder)}; wait for it to end", subject=name)
        if not told:
            progress.say(f"waiting for {name}, held by {told_holder(holder)}")
            told = True
        if stop.wait(POLL_SECONDS):
            raise Stopped("stopped while waiting; nothing was changed", subject=name)


def _keep(leases: Leases, held: Lease, clock: SystemClock, done: threading.Event) -> None:
    while not done.wait(TTL.total_seconds() / 3):
        try:
            leases.renew(held, expires_at=_iso(clock, TTL))
        except StaleLease:
            return  # the next check of the lease stops the run
        except TransientError:
            continue  # the lease outlives two missed renewals


def _me() -> str:
    return f"{_machine()}:{os.getpid()}:{_started(os.getpid())}"


def process_of(holder: str) -> tuple[str, int | None]:
    """The machine and the pid of a holder; no pid where another version named it otherwise."""
    machine, _, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    return machine.partition("/")[0], int(pid) if pid.isdecimal() else None


def told_holder(holder: str) -> str:
    """Name a holder as people do: `process 4711 on crawler-2`."""
    machine, pid = process_of(holder)
    return holder if pid is None else f"process {pid} on {machine}"


def _machine() -> str:
    """Where a pid means something: the host, and the pid namespace of a container on it."""
    try:
        namespace = Path("/proc/self/ns/pid").readlink().name
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{''.join(filter(str.isdigit, namespace))}"


def is_this_machine(holder: str) -> bool:
    """Whether the holder runs, or ran, on this machine."""
    return process_of(holder)[0] == process_of(_machine())[0]


def is_dead(holder: str) -> bool:
    """Whether the holder was a process of this machine that has ended; a reused pid does not fool it."""
    host, _, rest = holder.partition(":")
    pid, _, started = rest.partition(":")
    if host != _machine() or not pid.isdecimal():
        return False
    now = _started(int(pid))
    return not now or (_UNKNOWN not in (now, started) and now != started)


def _started(pid: int) -> str:
    """When a process started, in clock ticks since boot; empty when it does not run (any more).

    `_UNKNOWN` where it runs and nothing else may be read of it: of another user, under hidepid.
    Source: proc(5), /proc/PID/stat, fields 3 (state) and 22 (starttime).
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if not _alive(pid) else _UNKNOWN
    fields = text.rpartition(")")[2].split()
    # Killed, but not yet waited for by its parent: it holds its pid and does no more work.
    return "" if fields[0] in _ENDED else fields[19]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _iso(clock: SystemClock, later: timedelta = timedelta()) -> str:
    return (clock.now() + later).isoformat(timespec="milliseconds")


def set_hold(layout: IndexLayout, *, now: str) -> None:
    """Hold publishing."""
    write_durably(hold_file(layout), f"{now}\n")


def lift_hold(layout: IndexLayout) -> bool:
    """Let runs publish again; whether there was a hold."""
    held = held_since(layout) is not None
    hold_file(layout).unlink(missing_ok=True)
    return held


def check_hold(layout: IndexLayout) -> None:
    """Raise PublishHeld while publishing is held."""
    since = held_since(layout)
    if since is not None:
        raise PublishHeld(
            f"publishing has been held since a rollback at {since or 'an unknown time'}; "
            f"{ADVICE[Trouble.HELD]}",
            subject=str(layout.root),
        )
