"""MCP over HTTP: what answers at /mcp in each worker of `sitegraph serve`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sitegraph.service.guard import RequestLimits
from sitegraph.service.mcp_.server import CountQuestion, build_server
from sitegraph.service.mcp_.subscriptions import Subscriptions
from sitegraph.service.parts import Parts

_HEADROOM_SECONDS = 1.0
"""A call gives up so long before the guard would, so that its client is told in its own terms."""


class McpEndpoint:
    """Answers each request by itself: the next one of a client may come to another worker.

    The guard in front has checked token, host, origin and size.
    """

    path = "/mcp"
    """Names the route in the access log."""

    def __init__(self, parts: Parts, limits: RequestLimits, *, count: CountQuestion) -> None:
        self._subscriptions = Subscriptions(parts)
        seconds = max(limits.seconds - _HEADROOM_SECONDS, limits.seconds / 2)
        server = build_server(parts, self._subscriptions, seconds=seconds, is_connection=False, count=count)
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=limits.body_bytes
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self
        if scope["method"] != "POST":
            # There is no session to end, and no stream apart from that of a request.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer while the block runs."""
        async with self._manager.run(), self._subscriptions.following():
            yield

    def leave(self) -> None:
        """End the streams that clients listen on."""
        self._subscriptions.leave()
