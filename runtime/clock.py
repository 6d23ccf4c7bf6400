"""The one real clock; everything below flows is handed it."""

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

MAX_AHEAD = timedelta(days=2)
"""How far a latest time may be ahead of the machine: a wrong day and a wrong time zone (14 h) are less. One
beyond it was wrong itself, and to go on from there would let no document be due until that day."""


class SystemClock:
    """Wall and monotonic time of this machine."""

    ahead = timedelta()
    """How far `now` is ahead of what the machine says."""

    def now(self) -> datetime:
        """The time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking the event loop."""
        await asyncio.sleep(seconds)


class SteadyClock(SystemClock):
    """A clock that never goes back: where the machine's was set back, it goes on from the latest time known.

    Args: latest: gives that time, none after its argument; asked once, when the time is wanted first.
    """

    def __init__(self, latest: Callable[[datetime], datetime | None]) -> None:
        self._latest = latest
        self._last: tuple[datetime, float] | None = None
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The time in UTC; `ahead` until the machine has caught up."""
        with self._lock:
            machine, since_boot = super().now(), self.monotonic()
            last, then = self._last or (self._latest(machine + MAX_AHEAD) or machine, since_boot)
            at = machine if machine >= last else last + timedelta(seconds=since_boot - then)
            self._last, self.ahead = (at, since_boot), at - machine
            return at
