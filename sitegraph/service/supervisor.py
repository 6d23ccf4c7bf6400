"""Keeps a number of worker processes running, and ends them in time.

uvicorn's own supervisor asks its workers over a pipe whether they live and waits for the answer, also
for one that has just died and while it is told to end; this one waits for the processes themselves.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess

LEAVE_SECONDS = 8.0
"""What workers have, from being told to end, before they are killed."""

_LOOK_SECONDS = 0.2
_PAUSE_SECONDS = 1.0
"""Before a worker is replaced: one that cannot start must not be started without end."""


def supervise(work: Callable[[], None], *, workers: int) -> None:
    """Run *work*, which can be pickled, in *workers* processes until SIGTERM or SIGINT; replace the dead.

    Processes are spawned: the driver of the store does not survive a fork.
    """
    stop = threading.Event()
    with _signals(stop):
        running = [_start(work) for _ in range(workers)]
        while not stop.is_set():
            wait([process.sentinel for process in running], timeout=_LOOK_SECONDS)
            running = [_alive(process, work, stop) for process in running]
        end(running)


def end(running: Sequence[SpawnProcess], *, seconds: float = LEAVE_SECONDS) -> None:
    """Tell processes to end, and kill those that have not after *seconds*."""
    deadline = time.monotonic() + seconds
    for process in running:
        process.terminate()
    for process in running:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _start(work: Callable[[], None]) -> SpawnProcess:
    process = get_context("spawn").Process(target=work)
    process.start()
    return process


def _alive(process: SpawnProcess, work: Callable[[], None], stop: threading.Event) -> SpawnProcess:
    """Return the process, or a new one in its place; a dead one if there is no time for another."""
    if process.is_alive():
        return process
    sys.stderr.write(f"sitegraph: a worker ended ({process.exitcode}); starting another\n")
    sys.stderr.flush()
    return process if stop.wait(_PAUSE_SECONDS) else _start(work)


@contextmanager
def _signals(stop: threading.Event) -> Iterator[None]:
    before = {
        number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
