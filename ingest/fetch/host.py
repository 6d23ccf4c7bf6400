"""One host: its turns, its circuit, the tries that a document on it gets, and how waiting is called off.

Source: crawl rules, section 12: five failures in a row open the circuit for 15 minutes, then one probe.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from ingest.fetch.body import Judge
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.media import FetchLimits, is_whole_document
from ingest.fetch.politeness import (
    MAX_CRAWL_DELAY,
    MAX_PARK,
    MAX_WAIT,
    Clock,
    HostShare,
    Pace,
    SharedTurns,
    backoff_delay,
    parse_retry_after,
)
from ingest.fetch.transport import HttpResponse, Tally, Transport
from schemas.errors import Stopped
from schemas.formats import DocumentFormat

FAILURES = 5
OPEN_SECONDS = 900.0


class Breaker:
    """Counts failures of one host; all times are monotonic seconds."""

    def __init__(self) -> None:
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False

    def allows(self, now: float) -> bool:
        """Whether a request may go out; after the pause, one at a time."""
        return self._open_until is None or (now >= self._open_until and not self._probing)

    def started(self) -> None:
        """Note a request; the first one after the pause is the probe."""
        self._probing = self._open_until is not None

    def given_up(self) -> None:
        """Note a request that ended without telling anything of the host; the next one probes."""
        self._probing = False

    def busy(self, now: float) -> None:
        """Note a try without an answer, or with one that asks to come back; for a probe that is a failure."""
        if self._probing:
            self.failed(now)

    def failed(self, now: float) -> None:
        """Note a failure; a failed probe opens the circuit again at once."""
        self._failures += 1
        if self._probing or (self._open_until is None and self._failures >= FAILURES):
            self._open_until = now + OPEN_SECONDS
        self._probing = False

    def succeeded(self) -> None:
        """Note an answer, whatever its status: the host is there."""
        self._failures = 0
        self._open_until = None
        self._probing = False


_log = logging.getLogger(__name__)

BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may pass; any other error status is an answer."""

NO_HEADERS: Mapping[str, str] = {}

_CONDITIONS = frozenset({"If-None-Match", "If-Modified-Since"})

Checkpoint = Callable[[], None]
"""Asked before every request; raises Stopped when no more may go out."""


def build_checkpoint(should_stop: Callable[[], bool]) -> Checkpoint:
    """Turn the caller's question into one that raises."""

    def checkpoint() -> None:
        if should_stop():
            raise Stopped("stopped while fetching; run again to go on")

    return checkpoint


class Host:
    """The state of one host, kept for a whole session."""

    def __init__(
        self,
        *,
        name: str,
        transport: Transport,
        pace: Pace,
        clock: Clock,
        limits: FetchLimits,
        formats: Sequence[DocumentFormat],
        connections: int,
    ) -> None:
        self._name = name
        self._transport = transport
        self._pace = pace
        self._clock = clock
        self._limits = limits
        self._is_whole = partial(is_whole_document, formats=formats)
        self._connections = asyncio.Semaphore(connections)
        self._breaker = Breaker()
        self._parked_until = float("-inf")
        self._parked_because = ""

    def share(self, shared: SharedTurns) -> None:
        """Take turns with other runs that ask the host."""
        self._pace.share = HostShare(self._name, shared, clock=self._clock)

    async def aclose(self) -> None:
        """Let others ask the host."""
        if self._pace.share is not None:
            await self._pace.share.release()

    def slow_down(self, crawl_delay: float) -> None:
        """Obey a Crawl-delay; one that no crawl could live with parks the host."""
        if crawl_delay > MAX_CRAWL_DELAY:
            self._park(float("inf"), f"robots.txt asks for {crawl_delay:g} s between requests")
        elif crawl_delay > self._pace.crawl_delay:
            self._pace.crawl_delay = crawl_delay
            _log.info("%s asks for %g s between requests (robots.txt)", self._name, crawl_delay)

    async def ask(
        self,
        url: str,
        *,
        judge: Judge,
        tally: Tally,
        checkpoint: Checkpoint,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> HttpResponse:
        """Ask until there is an answer or the tries are used up; *headers* are those of this request alone.

        Raises: FetchFault: the last one; Stopped, from *checkpoint*.
        """
        digests: set[bytes] = set()
        for attempt in count(1):
            try:
                async with self._connections:
                    answer = await self._try(url, judge, tally, checkpoint, headers)
                conditional = bool(_CONDITIONS & headers.keys())
                return _accept(answer, conditional=conditional, digests=digests, is_whole=self._is_whole)
            except FetchFault as fault:
                waits = self._heed(fault)
                if attempt >= fault.tries(self._limits.tries):
                    self._note_given_up(fault)
                    raise
                if not waits:
                    await self._clock.sleep(backoff_delay(url, attempt=attempt, base=self._limits.backoff))
        raise AssertionError("count() does not end")

    async def _try(
        self,
        url: str,
        judge: Judge,
        tally: Tally,
        checkpoint: Checkpoint,
        headers: Mapping[str, str],
    ) -> HttpResponse:
        self._check_open()
        started = await self._pace.turn()
        try:
            self._check_open()  # what another connection met while this one waited
            checkpoint()
        except BaseException:
            self._pace.given_up()
            raise
        self._breaker.started()
        try:
            answer = await self._transport.get(url, judge=judge, tally=tally, headers=headers)
        except FetchFault as fault:
            self._note(fault)
            raise
        except BaseException:  # cancelled; a probe that never ends would keep the host closed
            self._breaker.given_up()
            raise
        finally:
            self._pace.finished(started)
        if answer.status in BUSY:
            self._breaker.busy(self._clock.monotonic())
        else:
            self._breaker.succeeded()
        return answer

    def _note(self, fault: FetchFault) -> None:
        if fault.of_host:
            self._note_failure()
        elif fault.of_document_or_host:
            self._breaker.busy(self._clock.monotonic())
        else:
            self._breaker.succeeded()

    def _check_open(self) -> None:
        now = self._clock.monotonic()
        if now < self._parked_until:
            raise FetchFault(FetchFaultKind.HOST_CLOSED, f"the host is left alone: {self._parked_because}")
        if not self._breaker.allows(now):
            minutes = OPEN_SECONDS / 60
            raise FetchFault(
                FetchFaultKind.HOST_CLOSED, f"the host failed too often in a row; left alone {minutes:g} min"
            )

    def _heed(self, fault: FetchFault) -> bool:
        """Leave the host alone as long as it asks, whether this document is tried again or another."""
        if fault.kind is not FetchFaultKind.BUSY:
            return False
        asked = parse_retry_after(fault.headers.get("retry-after"), now=self._clock.now())
        if asked is None:
            return False
        _log.info("%s asks to wait %g s (%s)", self._name, asked, fault.reason)
        if asked <= MAX_WAIT:
            self._pace.hold(asked)
        else:
            self._park(min(asked, MAX_PARK), f"it asked to wait {asked:g} s")
        return True

    def _note_given_up(self, fault: FetchFault) -> None:
        # One page that always fails, or never ends, is no dead host: its tries count once.
        if fault.of_document_or_host:
            self._note_failure()

    def _note_failure(self) -> None:
        now = self._clock.monotonic()
        allowed = self._breaker.allows(now)
        self._breaker.failed(now)
        if allowed and not self._breaker.allows(now):
            minutes = OPEN_SECONDS / 60
            _log.warning("%s failed too often in a row; left alone %g min", self._name, minutes)

    def _park(self, seconds: float, because: str) -> None:
        """Leave the host alone; of several reasons the one that lasts longest counts."""
        until = self._clock.monotonic() + seconds
        if until > self._parked_until:
            self._parked_until, self._parked_because = until, because
            _log.warning("%s is left alone: %s", self._name, because)


def _accept(
    answer: HttpResponse, *, conditional: bool, digests: set[bytes], is_whole: Callable[[bytes], bool]
) -> HttpResponse:
    """Let pass what is an answer; raise what must be asked again."""
    if answer.status in BUSY:
        reason = f"HTTP {answer.status}"
        raise FetchFault(FetchFaultKind.BUSY, reason, status=answer.status, headers=answer.headers)
    if answer.status == 304 and not conditional:
        raise FetchFault(
            FetchFaultKind.UNEXPECTED_304, "HTTP 304 to a request without validators", status=304
        )
    if answer.body is None or answer.framed:
        return answer
    if is_whole(answer.body):
        return replace(answer, framed=True)
    digest = hashlib.sha256(answer.body).digest()
    if digest not in digests:
        digests.add(digest)
        raise FetchFault(
            FetchFaultKind.TRUNCATED, "nothing proves that the body is whole", status=answer.status
        )
    return answer


_STOP_CHECK_SECONDS = 0.2


async def await_unless_stopped(tasks: Sequence[asyncio.Task[Any]], checkpoint: Checkpoint) -> None:
    """Wait for all; with the first error, or when a stop is asked for while hosts wait, end the others.

    Raises: what a task raised; Stopped, from *checkpoint*.
    """
    pending = set(tasks)
    try:
        while pending:
            done, pending = await asyncio.wait(
                pending, timeout=_STOP_CHECK_SECONDS, return_when=asyncio.FIRST_EXCEPTION
            )
            for task in done:
                task.result()
            if pending:
                checkpoint()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
