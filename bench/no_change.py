"""CPU seconds of a run that changes nothing, on a folder of files and on a small site on loopback.

    python -m bench.no_change [--runs 5]

Prints one JSON object: of each source the least and the median of several `sitegraph run`, each in a new
process whose children count with it, where no Prefect server is configured, beside the first run of its new
index. Other work on the machine makes the same run cost more.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from bench.pipeline import build_manual, write_source
from sitegraph.cli.demo_script import serve_folder

FILES = 10


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description="Time runs that change nothing.")
    parser.add_argument("--runs", type=int, default=5, help="runs of each source (default: 5)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        site = build_manual(work / "site")
        with serve_folder(site) as address:
            figures = {
                "files": measure(write_files(work), work / "files", runs),
                "web": measure(write_source(work, address, ["index.html"]), work / "web", runs),
            }
    print(json.dumps(figures, indent=2))


def measure(source: Path, index: Path, runs: int) -> dict[str, Any]:
    """Run a source once into a new index, then again and again."""
    first, _ = cpu_seconds(source, index)
    again = [cpu_seconds(source, index) for _ in range(runs)]
    assert not any(report["published"] for _, report in again), "the runs were to change nothing"
    seconds = sorted(spent for spent, _ in again)
    return {
        "documents": again[0][1]["documents"]["scheduled"],
        "first_cpu_seconds": round(first, 2),
        "again_cpu_seconds": {"min": round(seconds[0], 2), "median": round(median(seconds), 2)},
    }


def cpu_seconds(source: Path, index: Path) -> tuple[float, dict[str, Any]]:
    """One `sitegraph run`: what it and its children took, and its report."""
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    command = [sys.executable, "-m", "sitegraph.cli.app", "run", str(source), "--index", str(index)]
    before = _spent()
    done = subprocess.run(
        [*command, "--format", "json"],
        env={**environment, "PREFECT_HOME": str(index.parent / "prefect")},
        stdout=subprocess.PIPE,
        check=True,
    )
    return _spent() - before, json.loads(done.stdout)


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_files(folder: Path) -> Path:
    """Write a source of a few notes."""
    (folder / "notes").mkdir()
    for number in range(FILES):
        text = f"# Note {number}\n\nWhat note {number} says is said by no other, and stays as it is.\n"
        (folder / "notes" / f"{number}.md").write_text(text)
    source = folder / "notes.yaml"
    source.write_text("name: notes\nkind: files\nroots: [notes]\n")
    return source


if __name__ == "__main__":
    main()
