"""Connections of a worker: so many at a time, and none that only waits."""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS_MAX = 512
REQUEST_SECONDS = 10.0
"""From a connection, or the answer before, to the end of a request's head; twice that at most."""


def most_connections() -> int:
    """Half of the files this process may open, the stores need some too; at most `CONNECTIONS_MAX`."""
    return min(CONNECTIONS_MAX, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


class BoundedProtocol(H11Protocol):
    """Closes what is one too many, and what sends no whole request: silence costs a client nothing.

    The time of a request itself is bounded by the guard in front of the application.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it at once."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
        else:
            self.loop.call_later(REQUEST_SECONDS, self._watch, None)

    def _watch(self, last: Any) -> None:
        waits = self.cycle is None or self.cycle.response_complete
        if waits and self.cycle is last:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(REQUEST_SECONDS, self._watch, self.cycle)
