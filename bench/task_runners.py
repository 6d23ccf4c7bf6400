"""The same first run by threads, by one worker of Dask and by two, each worker bound to one core, in turn.

    python -m bench.task_runners FOLDER [--rounds 3]

FOLDER holds HTML pages, PDFs or Markdown files. Prints one JSON object: seconds by the clock of crawl (fetch
and parse) and embed, CPU seconds of the run with all that it starts, and the two ratios that compare:
`speed-up` (one worker against two, by the clock) and `overhead` (CPU of one worker against threads).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tests.fakes.prefect_server import free_port

ONE_CORE = {"SITEGRAPH_THREADS": "1", "SITEGRAPH_WORKERS": "1"}
"""So that a worker has no more to do at once than its core can."""


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description="Time a run by threads, and by one worker of Dask and two.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    taken: dict[str, list[dict[str, float]]] = {"threads": [], "one worker": [], "two workers": []}
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "bench.yaml"
        source.write_text(f"name: bench\nkind: files\nroots: ['{options.folder.resolve()}']\n")
        for number in range(options.rounds):
            for cores, name in enumerate(taken):
                index = Path(scratch) / f"{number}-{cores}"
                cpu = -_cpu_of_children()
                with workers(cores) as settings:
                    wall = run(source, index, settings)
                # Now that they have ended, the workers count as well.
                taken[name].append({"wall": wall, "cpu": cpu + _cpu_of_children()})
    print(json.dumps(compare(taken), indent=2))


@contextmanager
def workers(cores: int) -> Iterator[dict[str, str]]:
    """Start a scheduler and a worker on each of so many cores; the settings of a run there."""
    if not cores:
        yield {}
        return
    address = f"tcp://127.0.0.1:{(port := free_port())}"
    commands = [["dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]]
    commands += [["dask_worker", address, "--nworkers", "1", "--nthreads", "2"]] * cores
    started = []
    try:
        for core, command in enumerate(commands, start=-1):
            bound = ["taskset", "-c", str(core)] if core >= 0 else []
            module = [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:], "--no-dashboard"]
            environment = {**os.environ, **ONE_CORE}
            started.append(subprocess.Popen([*bound, *module], env=environment, stderr=subprocess.DEVNULL))
        yield {"SITEGRAPH_TASK_RUNNER": "dask", "SITEGRAPH_TASK_RUNNER_ADDRESS": address}
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def run(source: Path, index: Path, settings: Mapping[str, str]) -> float:
    """Run once; the seconds by the clock of what workers share."""
    command = [sys.executable, "-m", "sitegraph.cli.app", "run", str(source), "--index", str(index)]
    done = subprocess.run(
        [*command, "--format", "json", "--quiet"],
        env={**os.environ, **ONE_CORE, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return float(report["stages"]["crawl"] + report["stages"]["embed"])


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def compare(taken: Mapping[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Medians by kind of run, and the ratios."""
    figures = {
        name: {what: round(median(one[what] for one in runs), 1) for what in runs[0]}
        for name, runs in taken.items()
    }
    speed_up = figures["one worker"]["wall"] / figures["two workers"]["wall"]
    overhead = figures["one worker"]["cpu"] / figures["threads"]["cpu"]
    return {**figures, "speed-up": round(speed_up, 2), "overhead": round(overhead, 2)}


if __name__ == "__main__":
    main()
