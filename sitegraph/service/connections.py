"""Connections of a worker: so many at a time, and none that only waits."""

import asyncio
import resource
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from sitegraph.service.guard import OPEN_PATHS, STATUS

CONNECTIONS_MAX = 512
REQUEST_SECONDS = 10.0
"""From a connection, or the answer before, to the end of a request's head; twice that at most."""

PAUSE_SECONDS = 1.0
"""So long nothing is read of a connection after a 503, less than its `Retry-After`: clients that ask again at
once would take the time of those who are answered."""


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

    def on_response_complete(self) -> None:
        """Go on with the next request, a little later where one was turned away."""
        turned_away = self.scope.get(STATUS) == HTTPStatus.SERVICE_UNAVAILABLE
        is_probe = self.scope["path"] in OPEN_PATHS  # of a proxy, whose clients share its connections
        super().on_response_complete()
        if turned_away and not is_probe and not self.transport.is_closing():
            self.flow.pause_reading()
            self.loop.call_later(PAUSE_SECONDS, self.flow.resume_reading)

    def _watch(self, last: Any) -> None:
        waits = self.cycle is None or self.cycle.response_complete
        if waits and self.cycle is last:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(REQUEST_SECONDS, self._watch, self.cycle)
