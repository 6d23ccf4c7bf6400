"""Clients over both transports, and of both eras of the protocol."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.mcp_clients import AgentClient, connected, over_stdio
from tests.fakes.running_service import running

WAYS = ["stdio", "stdio before 2026", "http", "http before 2026"]


@pytest.fixture(scope="session")
def endpoint(folder: Path) -> Iterator[str]:
    """The address of a real service of two workers, between which the requests of a client go to and fro."""
    with running(folder, "--workers", "2") as (_, port):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(scope="module", params=WAYS)
def agent(request: pytest.FixtureRequest, folder: Path) -> Iterator[AgentClient]:
    """A client of a server that nobody changes anything about."""
    way: str = request.param
    server = over_stdio(folder) if way.startswith("stdio") else request.getfixturevalue("endpoint")
    with connected(server, mode="legacy" if way.endswith("before 2026") else "auto") as client:
        yield client
