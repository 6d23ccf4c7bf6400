"""Connections that are kept open between requests.

The library's own pool looks at every connection before and after every request, which was a fifth of the CPU
time of a page. Here nobody queues for a connection: politeness bounds them by host before they are asked for.
"""

import ssl
from collections import deque
from typing import Any

import httpcore2

from ingest.fetch.gate import GateBackend
from ingest.fetch.proxies import Proxy, ProxyRules
from ingest.fetch.through_proxy import connect_through

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
            return connect_through(proxy, origin, ssl_context=self._ssl_context, keepalive=_EXPIRY)
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
