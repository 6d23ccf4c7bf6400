"""A call that takes too long, and one in which something else timed out."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import mcp_types as types
import pytest

from schemas.settings import Settings
from sitegraph.service.guard import RequestLimits
from sitegraph.service.mcp_.server import build_server
from sitegraph.service.mcp_.subscriptions import Subscriptions
from sitegraph.service.parts import Parts, open_service_parts
from tests.fakes.mcp_clients import SECONDS, text_of


def said_of_sources(index: Path, sources: Callable[[Any], dict[str, Any]], *, seconds: float) -> str:
    """What the tool `list_sources` says, which is an error."""

    async def call(handle: Callable[..., Any]) -> types.CallToolResult:
        params = types.CallToolRequestParams(name="list_sources", arguments={})
        return cast("types.CallToolResult", await handle(cast("Any", SimpleNamespace(request=None)), params))

    replaced = mock.patch.object(Parts, "sources", lambda _, readers: sources(readers))
    with replaced, open_service_parts(Settings(index=str(index)), RequestLimits()) as parts:
        server = build_server(parts, Subscriptions(parts), seconds=seconds, is_connection=True)
        handler = server.get_request_handler("tools/call")
        assert handler is not None
        result = asyncio.run(call(handler.handler))
    assert result.is_error
    return text_of(result)


def test_a_call_that_takes_too_long_is_told_to_ask_for_less(folder: Path) -> None:
    ended = threading.Event()

    def late(_: Any) -> dict[str, Any]:
        ended.wait(SECONDS)
        return {}

    try:
        assert said_of_sources(folder, late, seconds=0.2) == "took longer than 0.2 s; ask for less"
    finally:
        ended.set()


def test_a_timeout_inside_is_a_failure_that_the_log_tells(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Any) -> dict[str, Any]:
        raise TimeoutError("a server inside does not answer")

    assert said_of_sources(folder, fail, seconds=SECONDS) == "the server failed; its log says why"
    assert "TimeoutError: a server inside does not answer" in capsys.readouterr().err
