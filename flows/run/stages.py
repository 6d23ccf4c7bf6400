"""How long each stage of a run took."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.run.watch import stage_span
from runtime.clock import SystemClock
from runtime.cost.meter import METER


class Stages:
    """Seconds by stage, in the order in which they began; together they are the run's.

    `costs` are those of the process before the run.
    """

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock
        self.costs = METER.begin()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str, *, since: float | None = None) -> Iterator[None]:
        """Add the block's time to a stage, and make a span of it.

        *since* is when the stage began, in the clock's seconds, where that is before the block. The block may
        not be one of several that wait side by side.
        """
        start = self._clock.monotonic() if since is None else since
        try:
            with stage_span(stage):
                yield
        finally:
            self.add(stage, self._clock.monotonic() - start)

    def add(self, stage: str, seconds: float) -> None:
        """Add seconds to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def move(self, seconds: float, stage: str, to: str) -> None:
        """Let seconds of a stage in which it only waited for another be the other's."""
        self.add(stage, -seconds)
        self.add(to, seconds)
