"""When the next request to a host may go out, in this run and among all runs that ask it.

Source: crawl rules, section 12; RFC 9110, 10.2.3 (Retry-After).
"""

import asyncio
import logging
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

from schemas.errors import TransientError
from schemas.fetch import HostTurn


class Clock(Protocol):
    """Tells the time and waits; tests pass one whose hours take no time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    def now(self) -> datetime:
        """The time of day, with a time zone."""

    async def sleep(self, seconds: float) -> None:
        """Wait; returns at once for zero or less."""


ASK_SECONDS = 10.0
"""A run in the line asks again after these at the latest, or it would lose its place."""

_log = logging.getLogger(__name__)

PROLONG_SECONDS = 20.0
"""How often a turn is prolonged whose last request goes on; the ledger keeps it three times as long."""


class Turns(Protocol):
    """Who has the turn at each host; indexes/stores/ledger/leases.py keeps it in a database."""

    def take(self, host: str, *, holder: str, delay: float) -> HostTurn:
        """Take the turn, or a place in the line."""

    def prolong(self, host: str, *, holder: str) -> None:
        """Keep the turn for longer."""

    def release(self, host: str, *, holder: str, since: float, pause: float) -> None:
        """Let others ask in *pause* seconds; *since*: seconds since the last request ended."""

    def leave(self, holder: str) -> None:
        """Forget a run that asks nothing any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTurns:
    """The turns of all hosts, as one session takes part in them under a name of its own."""

    turns: Turns
    holder: str


class HostShare:
    """One session's part in the turns of one host; belongs to one event loop, and asks in threads."""

    def __init__(self, host: str, shared: SharedTurns, *, clock: Clock) -> None:
        self.others_delay = 0.0
        self._host, self._shared, self._clock = host, shared, clock
        self._ends_at = float("-inf")
        self._held = False
        self._in_flight = 0
        self._ended = asyncio.Event()
        self._last_end = float("-inf")
        self._free_at = float("-inf")
        self._ending: asyncio.Task[None] | None = None
        self._told = False

    def covers(self, moment: float) -> bool:
        """Whether a request may go out at *moment* (monotonic seconds), as far as others are concerned."""
        return moment < self._ends_at

    def began(self, *, free_at: float) -> None:
        """Note that a request goes out, and from when on the next one may (monotonic seconds)."""
        self.hold_until(free_at)
        self._in_flight += 1
        self._ended.clear()

    def hold_until(self, moment: float) -> None:
        """Note that the host wants to be left alone until *moment*, by the others too."""
        self._free_at = max(self._free_at, moment)

    def ended(self) -> None:
        """Note the end of a request, or that it was not sent after all."""
        self._in_flight -= 1
        self._last_end = self._clock.monotonic()
        if not self._in_flight:
            self._ended.set()

    async def take(self, *, delay: float) -> None:
        """Wait until it is this session's turn; *delay*: what it promises the host, in seconds."""
        if self._ending is not None:
            await asyncio.shield(self._ending)  # the turn before is given back first, so that others come in
        while True:
            asked = self._clock.monotonic()
            turn = await asyncio.to_thread(
                self._shared.turns.take, self._host, holder=self._shared.holder, delay=delay
            )
            self.others_delay = turn.delay
            self._tell(turn)
            if turn.wait <= 0:
                break
            await self._clock.sleep(min(turn.wait, ASK_SECONDS))
        self._held, self._last_end, self._ends_at = True, asked, asked + turn.seconds
        self._ending = asyncio.ensure_future(self._end())

    async def _end(self) -> None:
        """Give the turn back once its time is over and its last request has ended."""
        try:
            await self._clock.sleep(self._ends_at - self._clock.monotonic())
            while self._in_flight:
                try:
                    await asyncio.wait_for(self._ended.wait(), PROLONG_SECONDS)
                except TimeoutError:
                    await asyncio.to_thread(
                        self._shared.turns.prolong, self._host, holder=self._shared.holder
                    )
            await self.release()
        except TransientError as error:
            _log.warning("the turn at %s expires by itself: %s", self._host, error)
        finally:
            self._ending = None

    async def release(self) -> None:
        """Give the turn back, if it is ours."""
        if not self._held:
            return
        self._held, self._ends_at = False, float("-inf")
        now = self._clock.monotonic()
        await asyncio.to_thread(
            self._shared.turns.release,
            self._host,
            holder=self._shared.holder,
            since=max(now - self._last_end, 0.0),
            pause=max(self._free_at - now, 0.0),
        )

    def _tell(self, turn: HostTurn) -> None:
        if turn.others and not self._told:
            _log.info("%s is shared with %d other runs; they take turns", self._host, turn.others)
        self._told = turn.others > 0


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
