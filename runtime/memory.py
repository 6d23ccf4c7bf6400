"""Peak resident memory of this process and of its children, in MiB.

A process inherits its parent's `ru_maxrss` through exec, so the kernel's mark of the address space
itself (VmHWM, proc_pid_status(5)) comes first wherever there is one.
"""

import ctypes
import multiprocessing
import os
import resource
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_M_ARENA_MAX = -8
"""Of malloc.h."""


def share_heaps() -> None:
    """Have the threads of this process share two heaps of glibc's; elsewhere nothing happens.

    With a heap for each thread, what one has freed is of no use to the others: a run that added 10,000 chunks
    to 70,000 took 965 MiB instead of 700. Source: mallopt(3), M_ARENA_MAX.
    """
    with suppress(AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def peak_rss_mb(pid: int | None = None) -> float:
    """Return the largest resident memory of a process so far; without *pid*, of this one."""
    return _high_water_mark(pid or os.getpid()) or (0.0 if pid else _in_mib(resource.RUSAGE_SELF))


def largest_child_mb(reported: Iterable[float] = ()) -> float:
    """Return the largest resident memory of any child so far; *reported* is what children said themselves."""
    ended = _in_mib(resource.RUSAGE_CHILDREN)
    running = (peak_rss_mb(child.pid) for child in multiprocessing.active_children())
    known = max((*running, *reported), default=0.0)
    # What ended children inherited is at most our own peak: only above that is it certainly theirs.
    return max(ended, known) if ended > peak_rss_mb() else known


def _high_water_mark(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    marks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(marks[0]) / 1024 if marks else 0.0


def _in_mib(who: int) -> float:
    # ru_maxrss counts KiB on Linux and bytes on macOS.
    return resource.getrusage(who).ru_maxrss / (1024.0**2 if sys.platform == "darwin" else 1024.0)
