"""How long each stage of a run took."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from runtime.clock import SystemClock


class Stages:
    """Seconds by stage, in the order in which they began; together they are the run's."""

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(
        self, stage: str, *, waited: Callable[[], float] = lambda: 0.0, since: float | None = None
    ) -> Iterator[None]:
        """Add the block's time to a stage; what *waited* grows by meanwhile is time of `embed`.

        *since* is when the stage began, in the clock's seconds, where that is before the block. The block may
        not be one of several that wait side by side.
        """
        start, before = self._clock.monotonic() if since is None else since, waited()
        try:
            yield
        finally:
            foreign = waited() - before if stage != "embed" else 0.0
            self._add(stage, self._clock.monotonic() - start - foreign)
            if foreign:
                self._add("embed", foreign)

    def _add(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
