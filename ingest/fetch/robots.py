"""robots.txt: may we, and how slowly (RFC 9309); asked once of each site and kept for a day.

protego matches well but reads group lines more freely than the RFC; what it gets here is cut down to the
lines the RFC knows, with agent names already decided.
Source: RFC 9309, 2.3.1 and 2.4; crawl rules, section 3.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protego import Protego

from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.host import OPEN_SECONDS
from ingest.fetch.media import BodyLimit, FetchLimits
from ingest.fetch.politeness import Clock
from ingest.fetch.transport import HttpResponse, follow_redirects
from ingest.uses import TDM_FILE, TdmRule, read_tdm_file, terms_of_signals

_KNOWN = frozenset({"user-agent", "allow", "disallow", "crawl-delay", "sitemap"})
_SIGNAL = "content-signal"
_TOKEN = re.compile(r"[A-Za-z_-]+")
_HTML = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_LINE_END = re.compile(rb"[\r\n]")


class RobotsRules:
    """What one robots.txt allows one product token; `uses` is what its `Content-Signal` says to it."""

    def __init__(self, text: str, token: str) -> None:
        self._token = token
        self._rules = Protego.parse(normalise_robots(text, token)) if text.strip() else None
        self.uses = terms_of_signals(_signals(text, token))

    def allows(self, url: str) -> bool:
        """Whether *url* (canonical) may be fetched; the longest match decides, a tie allows."""
        return self._rules is None or bool(self._rules.can_fetch(url, self._token))

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between requests the site asks for, as written; None when it asks for nothing usable."""
        delay = self._rules.crawl_delay(self._token) if self._rules is not None else None
        return float(delay) if delay is not None and delay >= 0 else None

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemap lines, as written."""
        return tuple(self._rules.sitemaps) if self._rules is not None else ()


def product_token(user_agent: str) -> str:
    """Return the name robots.txt groups address: the leading letters, `_` and `-` of a User-Agent."""
    match = _TOKEN.match(user_agent)
    return match[0] if match else ""


def decode_robots(body: bytes, *, max_bytes: int) -> str:
    """Turn a robots.txt body into text; one cut at *max_bytes* loses its last, partial line.

    A body that is HTML gives no rules: it is an error page under the wrong status.
    """
    if _HTML.match(body.removeprefix(b"\xef\xbb\xbf")):
        return ""
    if len(body) >= max_bytes:
        ends = [match.end() for match in _LINE_END.finditer(body)]
        body = body[: ends[-1]] if ends else b""
    return body.decode("utf-8", errors="replace").removeprefix("\ufeff")


def normalise_robots(text: str, token: str) -> str:
    """Keep the lines the RFC knows and decide which agent lines mean *token*.

    `*...` becomes `*`; a name whose leading letters equal *token* in any case becomes *token*; any other
    becomes a name nobody has, for protego would match by prefix.
    """
    lines = (_normalise_line(line, token) for line in _lines(text))
    return "\n".join(line for line in lines if line)


def _lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def _normalise_line(line: str, token: str) -> str:
    key, value = _split_line(line.partition("#")[0])
    if key not in _KNOWN:
        return ""
    if key == "user-agent":
        value = _agent(value, token)
    return f"{key}: {value}"


def _split_line(line: str) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    if not colon:  # a forgotten colon still says what the site wants
        words = line.split()
        key, value = words if len(words) == 2 else ("", "")
    return key.strip().lower(), value.strip()


def _signals(text: str, token: str) -> list[str]:
    """The `Content-Signal` lines of the group for *token*; where there is none, of that for all.

    Source: RFC 9309, 2.2.1.
    """
    groups: dict[str, list[str]] = {}
    agents: list[str] = []
    is_open = False
    for key, value in (_split_line(line.partition("#")[0]) for line in _lines(text)):
        if key == "user-agent":
            agents = [*(agents if is_open else ()), _agent(value, token)]
            groups.setdefault(agents[-1], [])
        for agent in agents if key == _SIGNAL else ():
            groups[agent].append(value)
        is_open = key == "user-agent" or (is_open and key not in (*_KNOWN, _SIGNAL))
    return groups.get(token, groups.get("*", []))


def _agent(value: str, token: str) -> str:
    if value.startswith("*"):
        return "*"
    return token if token and product_token(value).lower() == token.lower() else "x-other"


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
        self._reserved: dict[str, tuple[TdmRule, ...] | None] = {}

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
            answer = await follow_redirects(f"{site}/robots.txt", hops=self._limits.robots_redirects, ask=ask)
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

    async def read_reservations(
        self, site: str, ask: Callable[[str], Awaitable[HttpResponse]]
    ) -> tuple[TdmRule, ...] | None:
        """Return the rules of the `tdmrep.json` of *site*, asked for once; None where it is unavailable."""
        async with self._locks.setdefault(f"{site}{TDM_FILE}", asyncio.Lock()):
            if site not in self._reserved:
                self._reserved[site] = await self._ask_reservations(f"{site}{TDM_FILE}", ask)
            return self._reserved[site]

    async def _ask_reservations(
        self, url: str, ask: Callable[[str], Awaitable[HttpResponse]]
    ) -> tuple[TdmRule, ...] | None:
        try:
            answer = await follow_redirects(url, hops=self._limits.robots_redirects, ask=ask)
        except FetchFault as fault:
            return () if fault.kind in (FetchFaultKind.BAD_ANSWER, FetchFaultKind.POLICY) else None
        return read_tdm_file(answer.body) if answer is not None and answer.body is not None else ()

    def judge(self, _content_type: str | None, _head: bytes) -> BodyLimit:
        """Any type will do for robots.txt; what is not text gives no rules."""
        return self._limits.robots
