"""Time, as the caller hands it in."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits; tests pass one whose hours take no time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    def now(self) -> datetime:
        """The time of day, with a time zone."""

    async def sleep(self, seconds: float) -> None:
        """Wait; returns at once for zero or less."""
