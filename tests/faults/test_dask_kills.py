"""SIGKILL of workers, of the scheduler and of the run while Dask crawls, parses, embeds and publishes."""

import os
import signal
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest

from tests.fakes.dask_cluster import DASK, WORKER, cluster
from tests.fakes.large_site import serve_large_site
from tests.fakes.marked_processes import Marked
from tests.fakes.prefect_server import poll, prefect_server
from tests.fakes.sitegraph_runs import Sitegraph, sitegraph
from tests.faults.test_random_kills import write_source

pytestmark = [pytest.mark.server, pytest.mark.long, pytest.mark.timeout(7200)]
__all__ = ["prefect_server", "sitegraph"]

PAGES, ROUNDS = 150, 20
MEAN_SECONDS = 5.0
"""Of a run's life once it has asked for a page."""
VICTIMS = ("worker", "scheduler", "run")
SEED = 20260901


def test_twenty_kills_of_workers_schedulers_and_runs_lose_nothing(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    random, begun = Random(SEED), time.monotonic()
    dask = replace(sitegraph, environment={**sitegraph.environment, **DASK})
    codes: Counter[tuple[str, int]] = Counter()
    published = 0
    with serve_large_site(pages=PAGES, random=random) as site:
        source, index = write_source(tmp_path, site), tmp_path / "index"
        for number in range(ROUNDS):
            victim, seconds = VICTIMS[number % 3], min(20.0, random.expovariate(1 / MEAN_SECONDS))
            site.asked()
            codes[victim, _round(dask, source, index, victim, seconds, site)] += 1
            if (current := _generation(index)) != published:
                published = current
                assert sitegraph.damage(index) == (), f"generation {published}, round {number}"
                site.change(share=0.3)
        sitegraph.run(source, index)

        exported = sitegraph.export(index)
        paths = [urlsplit(row["url"]).path for row in exported["documents"]]
        assert sorted(paths) == sorted(site.paths), "nothing twice, nothing lost"
        assert sitegraph.damage(index) == ()
        sitegraph.run(source, tmp_path / "undisturbed")
        assert exported == sitegraph.export(tmp_path / "undisturbed")
    # A worker that is killed while it starts ends the run, which says so.
    assert {code for (victim, code) in codes if victim == "worker"} <= {0, 3}
    print(f"{ROUNDS} rounds, {dict(codes)}, generation {published}; {time.monotonic() - begun:.0f} s")


def _round(dask: Sitegraph, source: Path, index: Path, victim: str, seconds: float, site: object) -> int:
    """Kill the victim so long after the first page; how the run ended. Nothing of it is left then."""
    marked, settings = Marked(), dict[str, str]()
    with ExitStack() as stack:
        stack.callback(marked.kill)
        if victim == "scheduler":
            address, scheduler = stack.enter_context(cluster({**dask.environment, **marked.environment}))
            settings["SITEGRAPH_TASK_RUNNER_ADDRESS"] = address
        arguments = ("run", str(source), "--index", str(index))
        process = stack.enter_context(dask.process(*arguments, **marked.environment, **settings))
        asked = site.site.paths  # type: ignore[attr-defined]
        poll(lambda: asked() or process.poll() is not None or None, timeout=300, what="the first page")
        with suppress(Exception):
            process.wait(seconds)
        if process.poll() is None:
            killed = {
                "worker": marked.children_of(process.pid, running=WORKER)[:1],
                "scheduler": [scheduler.pid] if victim == "scheduler" else [],
                "run": [process.pid],
            }[victim]
            for pid in killed:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        _, err = process.communicate(timeout=600)
        assert process.returncode in (0, 3, -signal.SIGKILL), err
        stack.pop_all().close() if victim == "scheduler" else None
        poll(lambda: not marked.alive() or None, timeout=120, what="the end of all processes")
        return process.returncode


def _generation(index: Path) -> int:
    current = index / "CURRENT"
    return int(current.read_text().split()[0]) if current.exists() else 0
