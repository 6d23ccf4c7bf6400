"""A host's turns among all runs that ask it, in whatever process: one has the turn, the others wait."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Protocol

from ingest.fetch.clock import Clock
from schemas.errors import TransientError
from schemas.host_turns import HostTurn

ASK_SECONDS = 10.0
"""A run in the line asks again after these at the latest, or it would lose its place."""

_log = logging.getLogger(__name__)

PROLONG_SECONDS = 20.0
"""How often a turn is prolonged whose last request goes on; the ledger keeps it three times as long."""


class Turns(Protocol):
    """Who has the turn at each host; indexes/stores/ledger/turns.py keeps it in a database."""

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
