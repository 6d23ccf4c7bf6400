"""SIGKILL at random times while a site is crawled, parsed, encoded and published: in a process, by a flow."""

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest

from indexes.stores.ledger.ledger import open_ledger
from tests.fakes.forked_runs import forked_run
from tests.fakes.large_site import LargeSite, serve_large_site
from tests.fakes.prefect_server import poll, prefect_server
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph

pytestmark = [pytest.mark.server, pytest.mark.long, pytest.mark.timeout(3600)]
__all__ = ["prefect_server", "sitegraph"]

MEAN_SECONDS = 8.0
"""Of a run's life once it has its lease; now and then one lives long enough to publish."""
BATCH = 100
"""Documents of one host that are looked at together where the source asks for no delay."""
SEED = 20260301


class Command:
    """A command and what it started, by the names of a process of multiprocessing."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    @property
    def exitcode(self) -> int | None:
        return self._process.returncode

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def join(self, seconds: float | None = None) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def kill(self) -> None:
        if self.is_alive():
            os.killpg(self.pid, signal.SIGKILL)  # its temporary server would outlive it


@contextmanager
def flow_run(program: Sitegraph, source: Path, index: Path) -> Iterator[Command]:
    """Start `run --prefect`, which starts a Prefect server of its own; it is gone after the block."""
    with program.process("run", str(source), "--index", str(index), "--prefect", "--quiet") as process:
        yield Command(process)


Start = Callable[[Sitegraph, Path, Path], AbstractContextManager[ForkServerProcess | Command]]


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """How runs are started, over how large a site, and how many of them are killed."""

    start: Start
    pages: int
    kills: int


IN_PROCESS = Rounds(start=forked_run, pages=2000, kills=50)
THROUGH_PREFECT = Rounds(start=flow_run, pages=150, kills=40)


class Victim:
    """Runs of one source that are killed, and what each of them asked the site for."""

    def __init__(self, start: Start, program: Sitegraph, site: LargeSite, source: Path, index: Path) -> None:
        self._start = start
        self._program = program
        self._site = site
        self._source = source
        self._index = index
        self._asked: set[str] = set()
        self._unrecorded: set[str] = set()
        self.lost: list[int] = []
        self.twice = 0

    def run(self, *, seconds: float) -> bool:
        """Run, kill it so long after it took its lease; whether it had to be killed."""
        with self._start(self._program, self._source, self._index) as process:
            poll(lambda: self._holds(process) or None, timeout=600, what="the source's lease", interval=0.1)
            process.join(seconds)
            process.kill()
            process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        self._count()
        return process.exitcode != 0

    def generation(self) -> int:
        """What readers see."""
        current = self._index / "CURRENT"
        return int(current.read_text().split()[0]) if current.exists() else 0

    def _holds(self, process: ForkServerProcess | Command) -> bool:
        if not process.is_alive():
            return True
        if not (self._index / "index.json").exists():
            return False
        with closing(open_ledger(f"sqlite:///{self._index / 'ledger.sqlite'}")) as ledger:
            holder = ledger.leases.holder("source:large", now="2000")
        return f":{process.pid}:" in (holder or "")

    def _count(self) -> None:
        """What this run asked for and a kill kept from the ledger; nothing else may be asked for again."""
        asked = Counter(self._site.asked())
        assert max(asked.values(), default=1) == 1, "no run asks twice by itself"
        again = asked.keys() & self._asked
        assert again <= self._unrecorded, "what the ledger knows is not asked for again"
        self.twice += len(again)
        recorded = self._recorded()
        if recorded is None:
            self._asked, self._unrecorded = set(), set()
            return
        self._asked |= asked.keys()
        self._unrecorded = self._asked - recorded
        self.lost.append(len(asked.keys() - recorded))

    def _recorded(self) -> set[str] | None:
        """Pages that the interrupted crawl has looked at, by the ledger; None where no crawl is open."""
        with closing(open_ledger(f"sqlite:///{self._index / 'ledger.sqlite'}")) as ledger:
            run_id = ledger.runs.interrupted("large", since="2000")
            rows = ledger.documents.of_source("large") if run_id else ()
        return {urlsplit(row.uri).path for row in rows if row.run_id == run_id} if run_id else None


@pytest.mark.parametrize("rounds", [IN_PROCESS, THROUGH_PREFECT], ids=["in_process", "through_prefect"])
def test_kills_lose_no_page_and_publish_nothing_half(
    sitegraph: Sitegraph, tmp_path: Path, rounds: Rounds
) -> None:
    random = Random(SEED)
    begun, killed, published = time.monotonic(), 0, 0
    with serve_large_site(pages=rounds.pages, random=random) as site:
        source, index = write_source(tmp_path, site), tmp_path / "index"
        victim = Victim(rounds.start, sitegraph, site, source, index)
        while killed < rounds.kills:
            if victim.run(seconds=random.expovariate(1 / MEAN_SECONDS)):
                killed += 1
            else:
                site.change(share=0.5)
            if victim.generation() != published:
                published = victim.generation()
                assert sitegraph.damage(index) == (), f"generation {published}, after {killed} kills"
        sitegraph.run(source, index)

        exported = sitegraph.export(index)
        assert {urlsplit(row["url"]).path for row in exported["documents"]} == site.paths
        assert sitegraph.damage(index) == ()
        sitegraph.run(source, tmp_path / "undisturbed")
        assert exported == sitegraph.export(tmp_path / "undisturbed")
    assert max(victim.lost) <= BATCH
    print(
        f"{killed} kills, generation {victim.generation()} in the end, {victim.twice} pages asked for "
        f"again, {max(victim.lost)} at most lost by one kill; {time.monotonic() - begun:.0f} s"
    )


def write_source(folder: Path, site: LargeSite) -> Path:
    """A source file for the site."""
    path = folder / "large.yaml"
    path.write_text(
        f"name: large\nkind: web\nseeds: ['{site.site.url('/index.html')}']\n"
        f"allow_private: ['{site.site.address}']\nrate: {{per_host_delay: 0}}\n"
    )
    return path
