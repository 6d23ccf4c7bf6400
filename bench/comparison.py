"""Measure a child that reports on itself, ours and a peer's in turn, and compare."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure should be at most, or at least, and what it may be where several tries fell short of it.

    `reached` pins the latter, so that it does not sink unnoticed either.
    """

    figure: str
    says: str
    aim: float
    reached: float | None = None
    is_least: bool = False

    def holds(self, value: float, bound: float) -> bool:
        """Whether a value keeps to a bound."""
        return value >= bound if self.is_least else value <= bound

    def line(self, value: float) -> str:
        """The figure beside its aim."""
        pinned = "" if self.reached is None else f", pinned at {self.reached}"
        return f"{value} {self.says}; the aim is {self.aim}{pinned}"


def judge(figures: Figures, limits: Sequence[Limit]) -> tuple[list[str], list[str]]:
    """Return what misses its aim, or what is pinned in its place, and what keeps to what is pinned alone."""
    missed, short = [], []
    for limit in limits:
        value = figures[limit.figure]
        if limit.holds(value, limit.aim):
            continue
        pinned = limit.reached is not None and limit.holds(value, limit.reached)
        (short if pinned else missed).append(limit.line(value))
    return missed, short


def conclude(figures: Figures, misses: Sequence[str], short: Sequence[str] = ()) -> None:
    """Print the figures, and end with 1 where an aim was missed; what is *short* of one is only told."""
    print(json.dumps(figures, indent=2))
    for line in short:
        print(f"short of its aim, as is known: {line}", file=sys.stderr)
    for miss in misses:
        print(f"missed: {miss}", file=sys.stderr)
    if misses:
        raise SystemExit(1)
