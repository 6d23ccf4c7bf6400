"""Run a contestant in a fresh process: to its end, or until it has spent so much CPU time and is killed."""

import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bench.peers.contestant import Order

TICK = os.sysconf("SC_CLK_TCK")
POLL = 0.05
LONGEST = 3_600.0
MOST_SAID = 100

QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "COCOINDEX_DISABLE_USAGE_TRACKING": "1",
    "DO_NOT_TRACK": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
    "PYTHONDONTWRITEBYTECODE": "",
}
"""Nobody reports to anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A program: its module in this folder, who runs it, and in which tree of our code.

    `document` is the column of its table that names the document. Those that take chunks are given what our
    parser made of the documents; the other, ours, is given the documents.
    """

    name: str
    module: str
    python: Path
    tree: Path
    document: str
    takes_chunks: bool = True

    def in_tree(self, tree: Path) -> "Contestant":
        """Return the same in another tree of our code, which only ours is affected by."""
        return self if self.takes_chunks else replace(self, tree=tree)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a process and its children took, what it printed, and why it failed, if it did."""

    cpu: float
    out: str
    error: str = ""


def run(contestant: Contestant, order: Order) -> Spent:
    """Run to the end."""
    before = _children_cpu()
    try:
        done = subprocess.run(
            command(contestant, order),
            cwd=contestant.tree,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Spent(cpu=_children_cpu() - before, out="", error=f"not done after {LONGEST:.0f} s")
    said = (done.stderr.strip().splitlines() or ["no message"])[-1].replace("|", "/")[:MOST_SAID]
    return Spent(cpu=_children_cpu() - before, out=done.stdout, error=said if done.returncode else "")


def run_and_kill(contestant: Contestant, order: Order, *, after: float) -> bool:
    """Kill it and all its children once they have spent so many CPU seconds; whether it came to that."""
    started = subprocess.Popen(
        command(contestant, order),
        cwd=contestant.tree,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with started:
        while started.poll() is None:
            tree = tuple(_tree(started.pid))
            if sum(map(_cpu, tree)) >= after:
                for pid in tree:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return True
            time.sleep(POLL)
    return False


def command(contestant: Contestant, order: Order) -> Sequence[str]:
    """How it is started."""
    paths = [str(order.source), str(order.state), str(order.counts)]
    mend = ["--mend"] if order.mend else []
    model = ["--model", str(order.model)] if order.model else []
    return [str(contestant.python), "-m", f"bench.peers.{contestant.module}", *paths, *mend, *model]


def environment() -> dict[str, str]:
    """The environment of every contestant; no server of Prefect is configured."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "SITEGRAPH_"))
    }
    return {**kept, **QUIET}


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tree(root: int) -> Iterator[int]:
    """Yield a process and all that descend from it."""
    yield root
    with suppress(OSError):
        for thread in Path(f"/proc/{root}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _tree(int(child))


def _cpu(pid: int) -> float:
    """CPU seconds of a process, with those of its children that ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICK
    return 0.0
