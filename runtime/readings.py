"""What the kernel says of this process, its threads and its children: CPU seconds, bytes, peak memory.

Source: proc_pid_io(5), proc_pid_stat(5).

Where there is no /proc, bytes are 0 and threads of libraries are not told apart.

A process inherits its parent's `ru_maxrss` through exec, so the kernel's mark of the address space
itself (VmHWM, proc_pid_status(5)) comes first wherever there is one.
"""

import ctypes
import multiprocessing
import os
import resource
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from schemas.cost import Spent

_TASKS = "/proc/self/task"
_TICKS = os.sysconf("SC_CLK_TCK")
_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Child:
    """A child process with all it has started: its arguments, and what this program calls it."""

    pid: int
    command: str
    name: str
    spent: Spent


def read_thread(thread: threading.Thread) -> Spent:
    """What a living thread of this process has spent."""
    if thread is threading.current_thread():
        cpu = time.thread_time()
    elif hasattr(time, "pthread_getcpuclockid"):
        cpu = time.clock_gettime(time.pthread_getcpuclockid(thread.ident or 0))
    else:
        return Spent()
    read, written = _bytes(f"{_TASKS}/{thread.native_id}/io")
    return Spent(cpu=cpu, read=read, written=written)


def read_pools(names: dict[int, str], ours: set[int], before: Mapping[int, Spent]) -> Mapping[int, Spent]:
    """What threads that are none of Python's have spent, by their number; *names* gets those that are new.

    *ours* are threads of Python that were counted already, and are forgotten once they have ended: Python
    no longer lists a thread a moment before that. *before* is the last reading.
    """
    python = {thread.native_id for thread in threading.enumerate()}
    found = {}
    with suppress(OSError):
        tasks = {int(entry) for entry in os.listdir(_TASKS)}
        ours &= tasks
        for task in tasks - python - ours:
            if (spent := _spent_by(task, before.get(task))) is None:
                continue
            if task not in names:
                names[task] = _text(f"{_TASKS}/{task}/comm").strip()
            found[task] = spent
    return found


def read_process() -> Spent:
    """What all threads of this process have spent, and bytes of children that have ended."""
    read, written = _bytes("/proc/self/io")
    return Spent(cpu=time.process_time(), read=read, written=written)


def read_ended() -> Spent:
    """CPU seconds of children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(cpu=used.ru_utime + used.ru_stime)


def read_children() -> tuple[Child, ...]:
    """The children that run, each with all that it has started."""
    parents, spent = {}, {}
    for pid, parent, cpu in _processes():
        parents[pid] = parent
        spent[pid] = cpu
    named = {child.pid: child.name for child in multiprocessing.active_children()}
    children: dict[int, Spent] = {}
    for pid, cpu in spent.items():
        if (top := _top(pid, parents)) is not None:
            read, written = _bytes(f"/proc/{pid}/io")
            children[top] = children.get(top, Spent()) + Spent(cpu=cpu, read=read, written=written)
    return tuple(
        Child(pid, _text(f"/proc/{pid}/cmdline").replace("\0", " "), named.get(pid, ""), one)
        for pid, one in children.items()
    )


def _processes() -> Iterator[tuple[int, int, float]]:
    """Number, parent, and CPU seconds of each process, with those of its children that have ended."""
    with suppress(OSError):
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (text := _text(f"/proc/{entry}/stat")):
                fields = text.rpartition(")")[2].split()  # what is in brackets may have any character
                yield int(entry), int(fields[1]), sum(map(int, fields[11:15])) / _TICKS


def _top(pid: int, parents: Mapping[int, int]) -> int | None:
    """The child of this process that a process is, or comes from."""
    ours = os.getpid()
    while (parent := parents.get(pid)) is not None:
        if parent == ours:
            return pid
        pid = parent
    return None


def _spent_by(task: int, last: Spent | None) -> Spent | None:
    """What a thread has spent, None once it has ended; most threads of a pool have slept since *last*."""
    cpu = _thread_cpu(task)
    if cpu is None:
        return None
    if last and last.cpu and last.cpu == cpu:
        return last
    read, written = _bytes(f"{_TASKS}/{task}/io")
    return Spent(cpu=cpu, read=read, written=written)


def _thread_cpu(task: int) -> float | None:
    text = _text(f"{_TASKS}/{task}/schedstat")
    return int(text.split()[0]) / _NANOSECONDS if text else None


def _bytes(path: str) -> tuple[int, int]:
    lines = dict(line.split(": ") for line in _text(path).splitlines())
    return int(lines.get("rchar", 0)), int(lines.get("wchar", 0))


def _text(path: str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:  # thousands in a run; a third of `read_text`
            return (file.read() or b"").decode(errors="replace")
    except OSError:  # it has ended, or it is another user's
        return ""


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
