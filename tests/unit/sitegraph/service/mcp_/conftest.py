"""Clients over both transports, and of both eras of the protocol."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.fakes.mcp_clients import AgentClient, connected, over_stdio
from tests.fakes.running_service import running

WAYS = ["stdio", "stdio before 2026", "http", "http before 2026"]


@pytest.fixture(scope="session")
def connect(folder: Path) -> Iterator[Callable[[str], AgentClient]]:
    """Gives a client for each way, of servers that nobody changes anything about.

    Over HTTP it is a real service of two workers, between which the requests of a client go to and fro.
    """
    with ExitStack() as opened:

        @cache
        def endpoint() -> str:
            _, port = opened.enter_context(running(folder, "--workers", "2"))
            return f"http://127.0.0.1:{port}/mcp"

        @cache
        def client(way: str) -> AgentClient:
            server = over_stdio(folder) if way.startswith("stdio") else endpoint()
            mode = "legacy" if way.endswith("before 2026") else "auto"
            return opened.enter_context(connected(server, mode=mode))

        yield client


@pytest.fixture(params=["stdio", "http before 2026"])
def agent(request: pytest.FixtureRequest, connect: Callable[[str], AgentClient]) -> AgentClient:
    """A client over each transport, and of each era."""
    return connect(request.param)


@pytest.fixture(params=WAYS)
def any_agent(request: pytest.FixtureRequest, connect: Callable[[str], AgentClient]) -> AgentClient:
    """A client in every way that there is."""
    return connect(request.param)
