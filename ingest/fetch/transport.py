"""One GET: through the gate or a proxy, over kept connections, under the caps; redirects by hand.

Straight over connections: what an HTTP client adds (cookies, credentials from URLs, redirects that follow
themselves) must not happen here. Each hop of a redirect is a URL of its own.

The library's own pool looks at every connection before and after every request, which was a fifth of the CPU
time of a page. Here nobody queues for a connection: politeness bounds them by host before they are asked for.
Source: RFC 9112, 3.2.2 (absolute form, to a proxy); RFC 9110, 9.3.6 (CONNECT).
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpcore2

from ingest.fetch.body import ACCEPT_ENCODING, Body, Judge
from ingest.fetch.faults import LIBRARY_ERRORS, FetchFault, FetchFaultKind, classify_fault
from ingest.fetch.gate import AddressGate, AllowedTarget, GateBackend, Stream, open_stream
from ingest.fetch.login import SiteLogin
from ingest.fetch.media import BodyLimit, FetchLimits, with_one_type
from ingest.fetch.proxies import Proxy, ProxyRules
from ingest.fetch.signatures import RequestSigner
from ingest.urls import canonical_url, host_port
from schemas.errors import UnsupportedMedia


class _ProxyBackend(httpcore2.AsyncNetworkBackend):  # type: ignore[misc]  # httpcore2 comes without types here
    """Opens connections to the proxy itself, which the gate does not judge."""

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **_unused: Any) -> Stream:
        """Connect. Raises: ProxyError: it cannot be reached."""
        try:
            return await open_stream(host, port, timeout)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            raise httpcore2.ProxyError("no connection to it") from error


def _connect_through(proxy: Proxy, origin: Any, *, ssl_context: ssl.SSLContext, keepalive: float) -> Any:
    """Return a connection to *origin* by way of *proxy*; nothing is sent yet."""
    own = httpcore2.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target="/")
    pool = httpcore2.AsyncHTTPProxy(
        own,
        proxy_headers=[] if proxy.authorization is None else [(b"Proxy-Authorization", proxy.authorization)],
        ssl_context=ssl_context,
        proxy_ssl_context=ssl_context if proxy.scheme == "https" else None,
        keepalive_expiry=keepalive,
        network_backend=_ProxyBackend(),
    )
    return pool.create_connection(origin)


KEPT = 64
_EXPIRY = 30.0

_NO_PROXIES = ProxyRules()

Connection = Any  # httpcore2 comes without types here


class Connections:
    """Opens connections, each through the gate, and keeps the idle ones; belongs to one event loop."""

    def __init__(
        self, *, backend: GateBackend, ssl_context: ssl.SSLContext, proxies: ProxyRules = _NO_PROXIES
    ) -> None:
        self._backend = backend
        self._proxies = proxies
        self._ssl_context = ssl_context
        self._idle: deque[tuple[Any, Connection]] = deque()

    async def take(self, origin: Any) -> Connection:
        """Return a connection to *origin*, the one last used where it is still good."""
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place][0] == origin:
                connection = self._idle[place][1]
                del self._idle[place]
                if not connection.has_expired():
                    return connection
                await connection.aclose()
        if proxy := self.proxy_of(origin):
            await self._backend.admit_through_proxy(origin.host.decode("ascii"), origin.port)
            return _connect_through(proxy, origin, ssl_context=self._ssl_context, keepalive=_EXPIRY)
        return httpcore2.AsyncHTTPConnection(
            origin=origin,
            ssl_context=self._ssl_context,
            keepalive_expiry=_EXPIRY,
            network_backend=self._backend,
        )

    def proxy_of(self, origin: Any) -> Proxy | None:
        """Return the proxy that connections to *origin* go through."""
        scheme, host = origin.scheme.decode("ascii"), origin.host.decode("ascii")
        return self._proxies.proxy_for(scheme, host, origin.port)

    async def give_back(self, connection: Connection, origin: Any) -> None:
        """Keep *connection* where it can serve again; those idle for too long, or too many, are closed."""
        if connection.is_available():
            self._idle.append((origin, connection))
        else:
            await connection.aclose()
        while self._idle and (len(self._idle) > KEPT or self._idle[0][1].has_expired()):
            await self._idle.popleft()[1].aclose()

    async def aclose(self) -> None:
        """Close what is idle."""
        while self._idle:
            await self._idle.pop()[1].aclose()


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
        login: SiteLogin,
        proxies: ProxyRules,
        limits: FetchLimits,
        signer: RequestSigner | None = None,
    ) -> None:
        import httpx2

        self.requests = 0
        self.bytes = 0
        self.statuses: dict[int, int] = {}
        self._limits = limits
        self._login, self._signer = login, signer
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

    async def get(self, url: str, *, judge: Judge, tally: Tally, headers: Mapping[str, str]) -> HttpResponse:
        """Ask for one canonical URL; *tally* and the transport itself count it.

        Raises: FetchFault: whatever went wrong, named.
        """
        request = self._request(url, headers)
        self.requests += 1
        tally.requests += 1
        deadline = asyncio.timeout(self._limits.html.seconds)
        try:
            async with deadline:
                return await self._exchange(url, request, judge, tally, deadline)
        except LIBRARY_ERRORS as error:
            raise _name_fault(error, deadline) from None

    def _request(self, url: str, more: Mapping[str, str]) -> Any:
        scheme, _, rest = url.partition("://")
        authority, _, target = rest.partition("/")
        host, port = host_port(url)
        headers = [(b"Host", authority.encode()), *self._fixed, *self._login.headers_for(url)]
        headers.extend((name.encode(), value.encode("latin-1", "replace")) for name, value in more.items())
        if self._signer is not None:
            headers.extend(self._signer.headers_for(authority))
        # Built from parts: given as one text, the library would drop what follows a ";" in the last segment.
        parts = httpcore2.URL(scheme=scheme, host=host, port=port, target=f"/{target}")
        return httpcore2.Request("GET", parts, headers=headers, extensions={"timeout": self._timeouts})

    async def _exchange(
        self, url: str, request: Any, judge: Judge, tally: Tally, deadline: asyncio.Timeout
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
                self._login.take_cookies(url, response.headers)
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
        if key == "set-cookie":  # the login knows them, and nobody else needs to
            continue
        # A robot's name holds to the end of its header: joined by commas it would claim the next one.
        separator = "\n" if key == "x-robots-tag" else ", "
        headers[key] = f"{headers[key]}{separator}{text}" if key in headers else text
    return with_one_type(headers)


REDIRECTS = frozenset({301, 302, 303, 307, 308})
PERMANENT = frozenset({301, 308})


def redirect_target(answer: HttpResponse, url: str) -> str:
    """Return the canonical URL that *answer*, got for *url*, points to.

    Raises: FetchFault: no target, or one that may not be fetched (scheme, userinfo, malformed).
    """
    location = answer.headers.get("location", "")
    if not location:
        raise FetchFault(
            FetchFaultKind.BAD_ANSWER, f"HTTP {answer.status} without a target", status=answer.status
        )
    # Header bytes arrive as latin-1; browsers read a raw non-ASCII target as UTF-8.
    text = location.encode("latin-1").decode("utf-8", errors="replace")
    target = canonical_url(text, url)
    if target is None:
        raise FetchFault(
            FetchFaultKind.POLICY, "the redirect's target is no fetchable URL", status=answer.status
        )
    return target


async def follow_redirects(
    url: str, *, hops: int, ask: Callable[[str], Awaitable[HttpResponse]]
) -> HttpResponse | None:
    """Ask for *url* and what it redirects to; None when that takes more than *hops* redirects.

    Raises: FetchFault.
    """
    for _ in range(hops + 1):
        answer = await ask(url)
        if answer.status not in REDIRECTS:
            return answer
        url = redirect_target(answer, url)
    return None
