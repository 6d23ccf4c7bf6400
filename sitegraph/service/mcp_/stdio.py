"""MCP over stdin and stdout: `sitegraph mcp`, a child process of its one client."""

import asyncio
import os
import signal
import sys

from mcp.server.stdio import stdio_server

from runtime.settings import raise_gc_threshold
from schemas.evidence import Interface
from schemas.settings import Settings
from sitegraph.service.guard import RequestLimits
from sitegraph.service.mcp_.server import build_server
from sitegraph.service.mcp_.subscriptions import Subscriptions
from sitegraph.service.parts import Parts, open_ahead, open_service_parts


def serve_stdio(settings: Settings, *, limits: RequestLimits | None = None) -> None:
    """Answer the client at stdin until it closes it, or until SIGTERM or Ctrl-C."""
    raise_gc_threshold()
    bounds = limits or RequestLimits()
    with open_service_parts(settings, bounds, door=Interface.MCP) as parts:
        try:
            asyncio.run(_serve(parts, bounds))
        except* BrokenPipeError:
            _leave()  # nobody reads any more, and what is left to write would fail again


async def _serve(parts: Parts, limits: RequestLimits) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _leave)
    opening = asyncio.ensure_future(asyncio.to_thread(open_ahead, parts))
    subscriptions = Subscriptions(parts)
    server = build_server(parts, subscriptions, seconds=limits.seconds, is_connection=True, opening=opening)
    async with stdio_server() as (read, write), subscriptions.following():
        await server.run(read, write, server.create_initialization_options())
    opening.cancel()


def _leave() -> None:
    """End at once: a thread waits for the next line of stdin, and nothing can wake it; nothing is lost."""
    sys.stderr.flush()
    os._exit(0)
