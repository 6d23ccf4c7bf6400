"""Leases between real processes: the dead are taken over from at once, the living never."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from flows.run.leases import TTL, _machine, hold_lease, is_dead
from indexes.stores.ledger.leases import Lease
from indexes.stores.ledger.ledger import Ledger, open_ledger
from runtime.clock import SystemClock
from runtime.progress import StageProgress
from schemas.errors import StaleLease, Stopped, StoreUnavailable

NAME = "source:handbook"
LONG_AGO, LATER = "2000-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.sqlite'}"


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = open_ledger(url)
    yield opened
    opened.close()


@pytest.fixture
def child(ledger: Ledger, url: str) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that holds the lease."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.lease_holder", url, NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[4],
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        yield process
        process.kill()


def hold(
    ledger: Ledger, *, wait: bool = False, stop: threading.Event | None = None
) -> AbstractContextManager[Lease]:
    """Hold the lease in this process."""
    return hold_lease(
        ledger.leases,
        NAME,
        clock=SystemClock(),
        progress=StageProgress(quiet=True),
        stop=stop or threading.Event(),
        wait=wait,
    )


def holder(ledger: Ledger) -> str | None:
    """Who holds the lease now."""
    return ledger.leases.holder(NAME, now=SystemClock().now().isoformat())


def test_a_live_process_is_not_taken_over_from(ledger: Ledger, child: subprocess.Popen[str]) -> None:
    with pytest.raises(StoreUnavailable, match=f"{NAME}: held by process {child.pid} on "), hold(ledger):
        pass
    assert child.poll() is None


@pytest.mark.parametrize("reaped", [True, False], ids=["reaped", "zombie"])
def test_a_killed_process_is_taken_over_from_at_once(
    ledger: Ledger, child: subprocess.Popen[str], reaped: bool
) -> None:
    child.send_signal(signal.SIGKILL)
    if reaped:
        child.wait()
    else:  # its parent has not waited for it, as a busy worker has not
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    begun = time.monotonic()
    with hold(ledger) as held:
        assert held.token == 2
    assert time.monotonic() - begun < TTL.total_seconds() / 10


@pytest.mark.parametrize("killed", [False, True], ids=["alive", "killed"])
def test_where_nothing_may_be_read_of_processes_only_the_dead_are_taken_over_from(
    ledger: Ledger, child: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """As under `hidepid=2`, where /proc shows nothing of other users' processes."""
    if killed:
        child.kill()
        child.wait()
    read = Path.read_text

    def refuse(path: Path) -> str:
        if path == Path(f"/proc/{child.pid}/stat"):
            raise FileNotFoundError(path)
        return read(path)

    monkeypatch.setattr(Path, "read_text", refuse)
    outcome = nullcontext() if killed else pytest.raises(StoreUnavailable, match="held by process")
    with outcome, hold(ledger) as held:
        assert held.token == 2


def test_a_holder_that_could_not_tell_when_it_started_is_taken_for_alive_while_its_pid_runs(
    ledger: Ledger, child: subprocess.Popen[str]
) -> None:
    name = str(holder(ledger)).rpartition(":")[0] + ":unknown"
    assert not is_dead(name)
    child.kill()
    child.wait()
    assert is_dead(name)


def test_one_who_waits_gets_the_lease_when_it_is_let_go(ledger: Ledger, child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    threading.Timer(0.3, child.stdin.close).start()
    with hold(ledger, wait=True) as held:
        assert held.token == 2
        assert f":{os.getpid()}:" in str(holder(ledger))


def test_a_stop_ends_the_waiting(ledger: Ledger, child: subprocess.Popen[str]) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Stopped, match="nothing was changed"), hold(ledger, wait=True, stop=stop):
        pass
    assert f":{child.pid}:" in str(holder(ledger))


def test_a_lease_is_let_go_also_when_the_work_fails(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError), hold(ledger):
        _ = 1 / 0
    assert holder(ledger) is None


def test_one_process_cannot_hold_a_lease_twice(ledger: Ledger) -> None:
    with hold(ledger), pytest.raises(StoreUnavailable), hold(ledger):
        pass


@pytest.mark.parametrize(
    "holder_name",
    ["another-host:1:5", f"{os.uname().nodename}:not-a-pid:5", f"{_machine()}:²:5", "nobody knows"],
)
def test_a_holder_that_cannot_be_looked_for_is_taken_for_alive(ledger: Ledger, holder_name: str) -> None:
    ledger.leases.acquire(NAME, holder=holder_name, now=LONG_AGO, expires_at=LATER)
    with pytest.raises(StoreUnavailable), hold(ledger):
        pass


def test_a_pid_that_another_process_has_now_is_no_sign_of_life(ledger: Ledger) -> None:
    namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    reused = f"{os.uname().nodename}/{namespace}:{os.getpid()}:1"
    ledger.leases.acquire(NAME, holder=reused, now=LONG_AGO, expires_at=LATER)
    with hold(ledger) as held:
        assert held.token == 2


def test_a_holder_that_was_silent_too_long_learns_that_it_lost(ledger: Ledger) -> None:
    late = ledger.leases.acquire(NAME, holder="another-host:1:5", now=LONG_AGO, expires_at=LONG_AGO)
    assert late is not None
    with hold(ledger) as held:
        with pytest.raises(StaleLease, match="another run has taken over"):
            ledger.leases.check(late)
        ledger.leases.check(held)
