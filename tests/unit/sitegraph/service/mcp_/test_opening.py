"""The first question over stdio, asked while the index is still being opened."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import mcp_types as types

from schemas.settings import Settings
from sitegraph.service.guard import RequestLimits
from sitegraph.service.mcp_.server import build_server
from sitegraph.service.mcp_.subscriptions import Subscriptions
from sitegraph.service.parts import Parts, open_ahead, open_service_parts


async def ask_before_it_is_open(parts: Parts) -> tuple[bool, types.CallToolResult]:
    """Whether the question waited for the opening, and what it was answered afterwards."""
    opening = asyncio.get_running_loop().create_future()
    subscriptions = Subscriptions(parts)
    server = build_server(parts, subscriptions, seconds=60, is_connection=True, opening=opening)
    handler = server.get_request_handler("tools/call")
    assert handler is not None
    params = types.CallToolRequestParams(name="search", arguments={"query": "legal hold"})
    answer = asyncio.ensure_future(handler.handler(cast("Any", SimpleNamespace(request=None)), params))
    done, _ = await asyncio.wait([answer], timeout=1.0)
    opening.set_result(None)
    return not done, cast("types.CallToolResult", await answer)


def test_the_time_of_an_answer_begins_when_the_index_is_open(folder: Path) -> None:
    with open_service_parts(Settings(index=str(folder)), RequestLimits()) as parts:
        open_ahead(parts)  # so that an answer takes a few milliseconds
        waited, result = asyncio.run(ask_before_it_is_open(parts))
    assert waited
    assert result.structured_content is not None
    assert result.structured_content["results"]
