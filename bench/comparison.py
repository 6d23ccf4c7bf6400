"""Measure a child that reports on itself, ours and a peer's in turn, and compare."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 3
"""Each side is measured so often, in turn, since a machine's speed drifts within minutes."""

PEER_PYTHON = Path(__file__).parents[1] / ".cache" / "scrapy" / "bin" / "python"
PEER_SCRIPT = Path(__file__).parent / "peers" / "scrapy_crawl.py"

Figures = dict[str, Any]


def ours(module: str, *arguments: object) -> Figures:
    """Figures of one of our own modules, run by this interpreter."""
    return report_of([sys.executable, "-m", module, *map(str, arguments)])


def scrapy(*arguments: object) -> Figures:
    """Figures of Scrapy."""
    if not PEER_PYTHON.exists():
        raise SystemExit(f"{PEER_PYTHON} is not there; run it by its make target, which installs it")
    return report_of([str(PEER_PYTHON), str(PEER_SCRIPT), *map(str, arguments)])


def report_of(command: Sequence[str]) -> Figures:
    """Run a command and read the JSON object it prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures


def typical(rounds: Sequence[Figures]) -> Figures:
    """The median of every figure."""
    return {name: median(figures[name] for figures in rounds) for name in rounds[0]}


def require(figures: Sequence[Figures], name: str, expected: int) -> None:
    """Stop where a side did not do the work: its speed would say nothing."""
    if wrong := [f[name] for f in figures if f[name] < expected]:
        raise SystemExit(f"{name}: {wrong[0]} instead of {expected}; the figures mean nothing")


def conclude(figures: Figures, misses: Sequence[str]) -> None:
    """Print the figures, and end with 1 where an aim was missed."""
    print(json.dumps(figures, indent=2))
    for miss in misses:
        print(f"missed: {miss}", file=sys.stderr)
    if misses:
        raise SystemExit(1)
