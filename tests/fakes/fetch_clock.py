"""Clocks for fetching: one whose waits take no time, and the real one."""

import asyncio
import time
from datetime import UTC, datetime, timedelta


class QuickClock:
    """Sleeping moves this clock and nothing else; `slept` lists every wait in seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.seconds += seconds
            self.slept.append(seconds)
        await asyncio.sleep(0)


class WallClock:
    """Real time."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
