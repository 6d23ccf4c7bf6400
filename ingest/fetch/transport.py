"""One GET: through the gate, under the caps, following nothing.

Straight over connections: what an HTTP client adds (cookies, credentials from URLs, redirects that follow
themselves) must not happen here.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpcore2
import httpx2

from ingest.fetch.body import Body, Judge
from ingest.fetch.connections import Connections
from ingest.fetch.credentials import Credentials
from ingest.fetch.decode import ACCEPT_ENCODING
from ingest.fetch.faults import LIBRARY_ERRORS, FetchFault, FetchFaultKind, classify_fault
from ingest.fetch.gate import AddressGate, AllowedTarget, GateBackend
from ingest.fetch.limits import BodyLimit, FetchLimits
from ingest.fetch.media import with_one_type
from ingest.fetch.proxies import ProxyRules
from ingest.urls import host_port
from schemas.errors import UnsupportedMedia

# Some servers turn pages into Markdown for whoever names it at all, whatever its weight: */* stands for it.
_ACCEPT = b"text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.5,*/*;q=0.1"
_WITH_BODY = frozenset({200, 203})


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """What a server answered; header names in lower case, `body` None unless the status brings a document.

    `framed` as in `Body`; of an answer that was let pass also where the bytes show their end.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes | None
    framed: bool


@dataclass(slots=True)
class Tally:
    """What one document cost so far; `bytes` of bodies as received, `statuses` in the order they came."""

    requests: int = 0
    bytes: int = 0
    statuses: list[int] = field(default_factory=list)


class Transport:
    """Sends GET requests; belongs to one event loop."""

    def __init__(
        self,
        *,
        user_agent: str,
        allowed: Collection[AllowedTarget],
        credentials: Credentials,
        proxies: ProxyRules,
        limits: FetchLimits,
    ) -> None:
        self.requests = 0
        self.bytes = 0
        self.statuses: dict[int, int] = {}
        self._limits = limits
        self._credentials = credentials
        self._fixed = [
            (b"User-Agent", user_agent.encode("latin-1", errors="replace")),
            (b"Accept", _ACCEPT),
            (b"Accept-Encoding", ACCEPT_ENCODING.encode()),
        ]
        self._timeouts = {"connect": limits.connect, "read": limits.read, "write": limits.read}
        self._connections = Connections(
            backend=GateBackend(AddressGate(allowed)),
            ssl_context=httpx2.create_ssl_context(trust_env=False),
            proxies=proxies,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connections.aclose()

    async def get(
        self, url: str, *, judge: Judge, tally: Tally, validators: Mapping[str, str]
    ) -> HttpResponse:
        """Ask for one canonical URL; *tally* and the transport itself count it.

        Raises: FetchFault: whatever went wrong, named.
        """
        request = self._request(url, validators)
        self.requests += 1
        tally.requests += 1
        deadline = asyncio.timeout(self._limits.html.seconds)
        try:
            async with deadline:
                return await self._exchange(request, judge, tally, deadline)
        except LIBRARY_ERRORS as error:
            raise _name_fault(error, deadline) from None

    def _request(self, url: str, validators: Mapping[str, str]) -> Any:
        scheme, _, rest = url.partition("://")
        authority, _, target = rest.partition("/")
        host, port = host_port(url)
        headers = [(b"Host", authority.encode()), *self._fixed, *self._credentials.headers_for(url)]
        headers.extend(
            (name.encode(), value.encode("latin-1", "replace")) for name, value in validators.items()
        )
        # Built from parts: given as one text, the library would drop what follows a ";" in the last segment.
        parts = httpcore2.URL(scheme=scheme, host=host, port=port, target=f"/{target}")
        return httpcore2.Request("GET", parts, headers=headers, extensions={"timeout": self._timeouts})

    async def _exchange(
        self, request: Any, judge: Judge, tally: Tally, deadline: asyncio.Timeout
    ) -> HttpResponse:
        origin = request.url.origin
        connection = await self._connections.take(origin)
        try:
            response = await connection.handle_async_request(request)
            try:
                if response.status == 407 and self._connections.proxy_of(origin):
                    raise httpcore2.ProxyError("407 Proxy Authentication Required")
                self.statuses[response.status] = self.statuses.get(response.status, 0) + 1
                tally.statuses.append(response.status)
                return await self._receive(response, judge, tally, deadline)
            finally:
                await response.aclose()
        finally:
            await self._connections.give_back(connection, origin)

    async def _receive(
        self, response: Any, judge: Judge, tally: Tally, deadline: asyncio.Timeout
    ) -> HttpResponse:
        headers = _read_headers(response.headers, self._limits.header_bytes)
        body, content = Body(response, headers), None
        try:
            if response.status in _WITH_BODY:
                content = await body.read(judge, lambda limit: self._extend(deadline, limit))
            else:
                await body.drain()
        except UnsupportedMedia as error:
            status = response.status
            raise FetchFault(
                FetchFaultKind.UNSUPPORTED, error.message, status=status, headers=headers
            ) from None
        finally:
            self.bytes += body.received
            tally.bytes += body.received
        return HttpResponse(status=response.status, headers=headers, body=content, framed=body.framed)

    def _extend(self, deadline: asyncio.Timeout, limit: BodyLimit) -> None:
        started = (deadline.when() or 0.0) - self._limits.html.seconds
        deadline.reschedule(started + limit.seconds)


def _name_fault(error: Exception, deadline: asyncio.Timeout) -> FetchFault:
    if isinstance(error, TimeoutError) and deadline.expired():
        return FetchFault(FetchFaultKind.DEADLINE, "the whole answer did not come before the deadline")
    return classify_fault(error)


def _read_headers(raw: list[tuple[bytes, bytes]], max_bytes: int) -> dict[str, str]:
    # The HTTP library bounds incomplete header data only; one finished header of 120,000 bytes passes it.
    if sum(len(name) + len(value) + 4 for name, value in raw) > max_bytes:
        raise FetchFault(FetchFaultKind.TOO_LARGE, f"the headers exceed {max_bytes} bytes")
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        # A robot's name holds to the end of its header: joined by commas it would claim the next one.
        separator = "\n" if key == "x-robots-tag" else ", "
        headers[key] = f"{headers[key]}{separator}{text}" if key in headers else text
    return with_one_type(headers)
