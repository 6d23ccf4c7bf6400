"""The first question over stdio, asked while the index is still being opened."""

import asyncio
import time
from pathlib import Path
from typing import Any, cast

import mcp_types as types

from schemas.settings import Settings
from sitegraph.service.guard import RequestLimits
from sitegraph.service.mcp_.server import build_server
from sitegraph.service.mcp_.subscriptions import Subscriptions
from sitegraph.service.parts import Parts, open_parts

OPENING, ANSWER = 1.5, 1.0
"""Seconds that opening takes, and that an answer may."""


async def search(parts: Parts, *, seconds: float, opening: float = 0.0) -> types.CallToolResult:
    """Ask a server as soon as it is there, while something that the answer needs is being opened."""
    opened = asyncio.ensure_future(parts.threads.run(lambda: time.sleep(opening)))
    subscriptions = Subscriptions(parts)
    server = build_server(parts, subscriptions, seconds=seconds, is_connection=True, opening=opened)
    handler = server.get_request_handler("tools/call")
    assert handler is not None
    params = types.CallToolRequestParams(name="search", arguments={"query": "legal hold"})
    return cast("types.CallToolResult", await handler.handler(cast("Any", None), params))


def test_a_question_has_all_its_time_after_the_index_was_opened(folder: Path) -> None:
    with open_parts(Settings(index=str(folder)), RequestLimits()) as parts:
        expected = asyncio.run(search(parts, seconds=60))
        begun = time.monotonic()
        result = asyncio.run(search(parts, seconds=ANSWER, opening=OPENING))
        assert time.monotonic() - begun >= OPENING
    assert (result.is_error, result.structured_content) == (False, expected.structured_content)
