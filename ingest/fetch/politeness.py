"""When the next request to a host may go out.

Source: crawl rules, section 12; RFC 9110, 10.2.3 (Retry-After).
"""

import asyncio
import zlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from ingest.fetch.clock import Clock
from ingest.fetch.shared_turns import HostShare

MAX_WAIT = 3600.0
"""A host that asks for a longer pause is parked instead of waited for."""

MAX_PARK = 86400.0
MAX_CRAWL_DELAY = 300.0
"""A Crawl-delay above this would make a crawl of years; the host is parked and reported."""

_ADAPTIVE_FACTOR = 5.0
_ADAPTIVE_MAX = 30.0
_BACKOFF_MAX = 60.0


def pace_delay(*, per_host_delay: float, crawl_delay: float, last_response: float) -> float:
    """Return the seconds to leave between two requests; all arguments in seconds.

    A host that answers slowly is asked more slowly, unless *per_host_delay* 0 says that it is our own.
    """
    adaptive = min(_ADAPTIVE_MAX, _ADAPTIVE_FACTOR * last_response) if per_host_delay > 0 else 0.0
    return max(per_host_delay, crawl_delay, adaptive)


def parse_retry_after(value: str | None, *, now: datetime) -> float | None:
    """Return the seconds a Retry-After asks for; None for a past, negative or unreadable one."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9]) or None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = (moment - now).total_seconds()
    return seconds if seconds > 0 else None


def backoff_delay(url: str, *, attempt: int, base: float) -> float:
    """Return the seconds to wait after failed try number *attempt* (from 1); doubles each time.

    The spread of half a step comes from the URL, so that a run repeats exactly.
    """
    spread = zlib.crc32(f"{attempt} {url}".encode()) / 2**33
    return min(_BACKOFF_MAX, base * 2.0 ** (attempt - 1)) * (1.0 + spread)


class Pace:
    """Hands out the turns of one host, one after the other; with *share*, those that other runs leave."""

    def __init__(self, *, per_host_delay: float, clock: Clock) -> None:
        self.crawl_delay = 0.0
        self.share: HostShare | None = None
        self._per_host_delay = per_host_delay
        self._clock = clock
        self._last_response = 0.0
        self._next_at = float("-inf")
        self._turns = asyncio.Lock()

    async def turn(self) -> float:
        """Wait until a request may go out; gives the moment it does (monotonic seconds)."""
        async with self._turns:
            while True:
                if (wait := self._next_at - self._clock.monotonic()) > 0:
                    await self._clock.sleep(wait)
                elif self._must_take():
                    await self._take()
                else:
                    break
            started = self._clock.monotonic()
            self._next_at = started + self._delay()
            if self.share is not None:
                self.share.began(free_at=self._next_at)
            return started

    def _must_take(self) -> bool:
        """Whether others may have the turn. A host that is our own, with no delay at all, has no turns."""
        if self.share is None or self._promised() <= 0:
            return False
        return not self.share.covers(self._clock.monotonic())

    async def _take(self) -> None:
        assert self.share is not None
        await self.share.take(delay=self._promised())

    def finished(self, started: float) -> None:
        """Note the end of a request: the pause counts from here, however late the request arrived there."""
        self._last_response = self._clock.monotonic() - started
        self.hold(self._delay())
        self.given_up()

    def given_up(self) -> None:
        """Note that a turn is over, also one in which no request went out."""
        if self.share is not None:
            self.share.ended()

    def hold(self, seconds: float) -> None:
        """Let no request go out for *seconds* from now."""
        self._next_at = max(self._next_at, self._clock.monotonic() + seconds)
        if self.share is not None:
            self.share.hold_until(self._next_at)

    def _promised(self) -> float:
        return max(self._per_host_delay, self.crawl_delay)

    def _delay(self) -> float:
        own = pace_delay(
            per_host_delay=self._per_host_delay,
            crawl_delay=self.crawl_delay,
            last_response=self._last_response,
        )
        return max(own, self.share.others_delay if self.share is not None else 0.0)
