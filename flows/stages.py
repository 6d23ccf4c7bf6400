"""How long each stage of a run took."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.clock import SystemClock


class Stages:
    """Seconds by stage, in the order in which they ran."""

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the block's time to a stage."""
        start = self._clock.monotonic()
        try:
            yield
        finally:
            spent = self._clock.monotonic() - start
            self.seconds[stage] = self.seconds.get(stage, 0.0) + spent
