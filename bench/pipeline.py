"""A whole first run and the same run again, on a folder of pages served on loopback.

    python bench/pipeline.py [FOLDER --seed index.html --seed manual.pdf]

Without a folder it is this project's own manual. Prints one JSON object: wall and CPU seconds of both
runs (children and Prefect's server included), their ratio, peak memory, counts, and the seconds a cold query
takes. Ratios of one run compare; seconds of two machines do not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from sitegraph.cli.demo_script import serve_folder

COLD_QUERIES = 5


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description="Time a first run, a no-change run and a cold query.")
    parser.add_argument("folder", type=Path, nargs="?", help="pages to serve (default: the manual)")
    parser.add_argument("--seed", action="append", default=[], help="path of a seed (default: index.html)")
    parser.add_argument("--question", default="how do I set the maximum number of connections")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        folder = options.folder or build_manual(work / "site")
        figures = measure_folder(folder, options, work)
    print(json.dumps(figures, indent=2))


def measure_folder(folder: Path, options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Serve the folder and measure."""
    with serve_folder(folder) as address:
        source = write_source(work, address, options.seed or ["index.html"])
        return measure(source, work / "index", options.question)


def build_manual(output: Path) -> Path:
    """Build the manual from this checkout."""
    build = Path(__file__).parents[1] / "docs" / "build.py"
    subprocess.run([sys.executable, str(build), "--out", str(output)], stdout=subprocess.DEVNULL, check=True)
    return output


def measure(source: Path, index: Path, question: str) -> dict[str, Any]:
    """Run twice and query cold; compare."""
    first, again = timed_run(source, index), timed_run(source, index)
    ratio = again["cpu_seconds"] / first["cpu_seconds"]
    return {
        "first": first,
        "again": again,
        "again_to_first_cpu": round(ratio, 3),
        "cold_query_seconds": cold_queries(index, question),
    }


def timed_run(source: Path, index: Path) -> dict[str, Any]:
    """One `sitegraph run` in a process of its own."""
    before, start = os.times(), time.monotonic()
    command = [sys.executable, "-m", "sitegraph.cli.app", "run", str(source), "--index", str(index)]
    done = subprocess.run([*command, "--format", "json"], stdout=subprocess.PIPE, check=True)
    wall, after = time.monotonic() - start, os.times()
    report = json.loads(done.stdout)
    cpu = (after.children_user + after.children_system) - (before.children_user + before.children_system)
    kept = ("generation", "documents", "chunks", "nodes", "edges", "http", "stages", "peak_rss_mb")
    return {
        "wall_seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        **{key: report[key] for key in kept},
        "problems": len(report["problems"]),
    }


def cold_queries(index: Path, question: str) -> dict[str, float]:
    """Seconds of `python -m retrieval` in new processes, the page cache warm."""
    command = [sys.executable, "-m", "retrieval", "--query", question, "--index", str(index)]
    seconds = []
    for _ in range(COLD_QUERIES + 1):
        start = time.monotonic()
        subprocess.run([*command, "--top-k", "5"], stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.monotonic() - start)
    warm = sorted(seconds[1:])
    return {"min": round(warm[0], 2), "median": round(median(warm), 2), "max": round(warm[-1], 2)}


def write_source(folder: Path, address: str, seeds: list[str]) -> Path:
    """Write the source file of the served folder."""
    path = folder / "source.yaml"
    record = {
        "name": "bench",
        "kind": "web",
        "seeds": [f"http://{address}/{seed}" for seed in seeds],
        "allow_private": [address],
        "rate": {"per_host_delay": 0},
    }
    path.write_text(json.dumps(record))  # JSON is YAML
    return path


if __name__ == "__main__":
    main()
