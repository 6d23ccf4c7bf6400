"""What this process spends, and on what: the listener of `schemas/causes.py`."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from runtime.readings import read_children, read_ended, read_pools, read_process, read_thread
from schemas.cost import Cause, Costs, Spent, add_spent, listen

WITHOUT_POOLS = frozenset({Cause.PREFECT, Cause.FETCH, Cause.PARSE})
"""Causes that may wait in many threads for long, and have no library work for them in threads of its own."""

_STORE_THREADS = ("lance", "tokio")
"""How LanceDB names its threads (lance-cpu, tokio-runtime-w); those of ONNX and BLAS have no name."""

_PROGRAMS = (
    ("runtime.parser_child", Cause.PARSE),
    ("prefect.server", Cause.PREFECT),
    ("playwright", Cause.FETCH),
    ("chrom", Cause.FETCH),
)

ENCODER_PROCESS = "encode"
_WORKERS = ("dask", "raylet", "ray::", "gcs_server")


def cause_of_thread(name: str, active: Iterable[Cause]) -> Cause:
    """Say what a library's thread works for, by its name and what our threads are at meanwhile.

    The store's work for the only one of them that uses it, others for the encoder while that is at work.
    """
    causes = set(active) - WITHOUT_POOLS
    if name.startswith(_STORE_THREADS):
        causes.discard(Cause.EMBED)
    elif Cause.EMBED in causes:
        return Cause.EMBED
    return causes.pop() if len(causes) == 1 else Cause.OTHER


def cause_of_ended(active: Iterable[Cause]) -> Cause:
    """Say what a child was for that came and went between two looks: what alone was done meanwhile."""
    causes = set(active) - {Cause.PREFECT}
    return causes.pop() if len(causes) == 1 else Cause.OTHER


def cause_of_process(command: str, name: str) -> Cause | None:
    """Say what a child process works for; None for one that tells of itself, as workers do.

    Args: command: its arguments. name: what this program calls it, if it does.
    """
    if any(worker in f"{name} {command}".lower() for worker in _WORKERS):
        return None
    if name == ENCODER_PROCESS:
        return Cause.EMBED
    return next((cause for part, cause in _PROGRAMS if part in command), Cause.OTHER)


NOTHING = Spent()

CHILDREN_EVERY = 1.0
"""Seconds between two looks at what children run, but for the end of one: all processes have to be read."""


@dataclass
class _Worker:
    """A thread of ours in a block: the causes it is in, the innermost last, and what it had spent."""

    thread: threading.Thread
    causes: list[Cause] = field(default_factory=list)
    last: Spent = NOTHING


class CostMeter:
    """Gives each cause what is spent on it: by our threads, the threads of libraries, and child processes.

    A thread's time is that of the innermost block it is in. What threads of libraries and children spend is
    looked at whenever a block begins or ends that may use them. Two runs at once in one process are counted
    together. May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._workers: dict[int, _Worker] = {}
        self._spent: dict[str, Spent] = {}
        self._rows: Counter[str] = Counter()
        self._names: dict[int, str] = {}
        self._ours: set[int] = set()
        self._pools: Mapping[int, Spent] = {}
        self._children: dict[int, tuple[Cause | None, Spent]] = {}
        self._ended = NOTHING
        self._workers_spent = NOTHING
        self._told: dict[str, Spent] = {}
        self._looked = 0.0
        self._fresh = self._is_old = False

    @contextmanager
    def block(self, cause: Cause) -> Iterator[None]:
        """What the calling thread does in the block is done for *cause*; a block within it is its own."""
        with self._lock:
            self._look(cause)
            me = self._workers.setdefault(threading.get_ident(), _Worker(threading.current_thread()))
            self._ours.add(threading.get_native_id())
            self._charge(me)
            me.causes.append(cause)
        try:
            yield
        finally:
            with self._lock:
                self._charge(me)
                self._look(cause)
                me.causes.pop()
                if not me.causes:
                    del self._workers[threading.get_ident()]

    def add_rows(self, table: str, number: int) -> None:
        """So many rows of a table were written or removed."""
        with self._lock:
            self._rows[table] += number

    def add_told(self, spent: Mapping[str, Spent]) -> None:
        """Take in what a worker says that it spent, by cause."""
        with self._lock:
            self._told = add_spent((self._told, spent))

    def read(self) -> Costs:
        """Everything so far."""
        with self._lock:
            for worker in self._workers.values():
                self._charge(worker)
            self._read_pools()
            self._read_children()
            running = (spent for _, spent in self._children.values())
            total = sum(running, start=read_process() + self._ended)
            causes = add_spent(
                (self._spent, *({c.value: s} for c, s in self._children.values() if c is not None))
            )
            lent = sum((s for c, s in self._children.values() if c is None), start=self._workers_spent)
            told, rows = dict(self._told), dict(self._rows)
            return Costs(total=total, causes=causes, workers=lent, told=told, rows=rows)

    def begin(self) -> Costs:
        """What a run that begins now is to be counted from."""
        fresh, self._fresh = self._fresh, False
        return Costs() if fresh else self.read()

    def charge_past(self, cause: Cause) -> None:
        """Count the next run from the beginning of this process, which is there for it alone; once.

        What the calling thread and those of libraries have spent until now was spent on *cause*.
        """
        with self._lock:
            if self._is_old:
                return
            self._fresh = self._is_old = True
            self._add(cause, read_thread(threading.current_thread()))
            self._pools = read_pools(self._names, self._ours, {})
            self._add(cause, sum(self._pools.values(), start=NOTHING))

    def _charge(self, worker: _Worker) -> None:
        now = read_thread(worker.thread)
        if worker.causes:
            self._add(worker.causes[-1], now - worker.last)
        worker.last = now

    def _look(self, cause: Cause) -> None:
        if cause not in WITHOUT_POOLS:
            self._read_pools()
            if read_ended() != self._ended or time.monotonic() - self._looked > CHILDREN_EVERY:
                self._read_children()

    def _read_pools(self) -> None:
        before, self._pools = self._pools, read_pools(self._names, self._ours, self._pools)
        active = self._active()
        for task, spent in self._pools.items():
            grown = spent - before.get(task, NOTHING)
            if grown != NOTHING:
                self._add(cause_of_thread(self._names[task], active), grown.at_least_zero())

    def _read_children(self) -> None:
        """What was not seen of a child that ended is theirs who were at work; its bytes Linux gives us."""
        self._looked = time.monotonic()
        ended = read_ended()
        running = {child.pid: child for child in read_children()}
        unseen, self._ended = ended - self._ended, ended
        for pid in self._children.keys() - running.keys():
            cause, spent = self._children.pop(pid)
            unseen -= Spent(cpu=spent.cpu)
            if cause is None:
                self._workers_spent += spent
            else:
                self._add(cause, spent)
        if unseen.cpu > 0:
            self._add(cause_of_ended(self._active()), unseen)
        for pid, child in running.items():
            cause = (
                self._children[pid][0]
                if pid in self._children
                else cause_of_process(child.command, child.name)
            )
            self._children[pid] = (cause, child.spent)

    def _active(self) -> set[Cause]:
        return {worker.causes[-1] for worker in self._workers.values() if worker.causes}

    def _add(self, cause: Cause, spent: Spent) -> None:
        self._spent[cause.value] = self._spent.get(cause.value, NOTHING) + spent


METER = CostMeter()
"""The meter of this process; it costs nothing until somebody says what he works for."""
listen(METER)
