"""What robots.txt of each site says, asked once and kept for a day.

Source: RFC 9309, 2.3.1 and 2.4; crawl rules, section 3.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ingest.fetch.breaker import OPEN_SECONDS
from ingest.fetch.clock import Clock
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.limits import BodyLimit, FetchLimits
from ingest.fetch.redirects import follow
from ingest.fetch.robots import RobotsRules, decode_robots
from ingest.fetch.transport import HttpResponse

KEPT_SECONDS = 86400.0
"""How long rules are good for; a fault only as long as a circuit stays open."""

_EVERYTHING = RobotsRules("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsPolicy:
    """The rules of one site, or the fault that kept us from reading them: then nothing may be fetched."""

    rules: RobotsRules = _EVERYTHING
    fault: FetchFault | None = None


class RobotsCache:
    """Reads each site's robots.txt once a day at most; sites are told apart by scheme, host and port."""

    def __init__(self, *, token: str, clock: Clock, limits: FetchLimits) -> None:
        self._token = token
        self._clock = clock
        self._limits = limits
        self._known: dict[str, tuple[float, RobotsPolicy]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def known(self, site: str) -> RobotsPolicy | None:
        """What is known of *site* (`https://host:port`) and not too old."""
        until, policy = self._known.get(site, (float("-inf"), None))
        return policy if self._clock.monotonic() < until else None

    async def read(self, site: str, ask: Callable[[str], Awaitable[HttpResponse]]) -> RobotsPolicy:
        """Return the rules of *site*, asking for its robots.txt if need be; one asks, the others wait."""
        async with self._locks.setdefault(site, asyncio.Lock()):
            policy = self.known(site)
            if policy is None:
                policy = await self._ask(site, ask)
                kept = KEPT_SECONDS if policy.fault is None else OPEN_SECONDS
                self._known[site] = (self._clock.monotonic() + kept, policy)
            return policy

    async def _ask(self, site: str, ask: Callable[[str], Awaitable[HttpResponse]]) -> RobotsPolicy:
        try:
            answer = await follow(f"{site}/robots.txt", hops=self._limits.robots_redirects, ask=ask)
        except FetchFault as fault:
            return RobotsPolicy() if fault.kind is FetchFaultKind.BAD_ANSWER else RobotsPolicy(fault=fault)
        return self._interpret(answer)

    def _interpret(self, answer: HttpResponse | None) -> RobotsPolicy:
        """Rules where there are some; no rules for 4xx and endless redirects; a fault for the rest."""
        if answer is None or 300 <= answer.status < 500:
            return RobotsPolicy()
        if answer.body is None:
            fault = FetchFault(FetchFaultKind.BAD_ANSWER, f"HTTP {answer.status}", status=answer.status)
            return RobotsPolicy() if answer.status < 300 else RobotsPolicy(fault=fault)
        text = decode_robots(answer.body, max_bytes=self._limits.robots.max_bytes)
        return RobotsPolicy(rules=RobotsRules(text, self._token))

    def judge(self, _content_type: str | None, _head: bytes) -> BodyLimit:
        """Any type will do for robots.txt; what is not text gives no rules."""
        return self._limits.robots
