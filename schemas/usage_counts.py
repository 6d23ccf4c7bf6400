"""How many questions the usage log tells of, as plain data: what metrics are made of."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0)
"""Upper bounds in seconds; a language model may take a minute to word an answer."""


class Interface(StrEnum):
    """By what a question was asked; logs and metrics name it `door`."""

    QUERY = "query"
    ASK = "ask"
    RETRIEVAL = "retrieval"  # python -m retrieval
    MCP = "mcp"  # over stdin and stdout
    SERVE = "serve"  # over HTTP, in the pages and at /mcp


@dataclass(frozen=True, slots=True)
class Durations:
    """How many answers took how long: a number for each of BUCKETS and one for what is longer."""

    counts: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)
    seconds: float = 0.0

    def plus(self, seconds: float) -> "Durations":
        """Count one more."""
        place = bisect_left(BUCKETS, seconds)
        counts = tuple(number + (at == place) for at, number in enumerate(self.counts))
        return Durations(counts, self.seconds + seconds)


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """Questions by interface and outcome, and how long their answers took by interface."""

    questions: Mapping[tuple[str, str], int] = field(default_factory=dict)
    durations: Mapping[str, Durations] = field(default_factory=dict)
