"""What a worker does with clients that only hold a connection open."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from uvicorn import Config, Server

from sitegraph.service import running
from sitegraph.service.guard import STATUS
from sitegraph.service.running import BoundedProtocol

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def listening() -> AsyncIterator[int]:
    """A server of one small answer; gives its port."""
    config = Config(answer, http=BoundedProtocol, lifespan="off", log_config=None)
    server = Server(config)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        served = asyncio.create_task(server.serve(sockets=[bound]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            await served


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """A small answer; what is asked elsewhere than at / is turned away."""
    scope[STATUS] = 200 if scope["path"] == "/" else 503
    await PlainTextResponse("here", scope[STATUS])(scope, receive, send)


async def said(port: int, request: bytes) -> bytes:
    """All that comes back on a connection of its own, until the other side closes it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    with suppress(ConnectionError):
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(), timeout=20)
    writer.close()
    return answer


def run(scene: Callable[[int], Awaitable[None]]) -> None:
    async def play() -> None:
        async with listening() as port:
            await scene(port)

    asyncio.run(play())


def test_who_was_turned_away_is_read_again_after_a_second_and_others_at_once() -> None:
    async def ask(path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
        began = time.monotonic()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await reader.readuntil(b"here")
        return time.monotonic() - began

    async def scene(port: int) -> None:
        one = await asyncio.open_connection("127.0.0.1", port)
        other = await asyncio.open_connection("127.0.0.1", port)
        took = [await ask(path, *one) for path in ("/busy", "/", "/")]
        assert took[1] > 0.9
        assert max(took[0], took[2], await ask("/readyz", *other), await ask("/", *other)) < 0.9
        for _, writer in (one, other):
            writer.close()

    run(scene)


@pytest.mark.parametrize("begun", [b"", REQUEST[:20]])
def test_a_connection_that_sends_no_whole_request_is_closed(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "REQUEST_SECONDS", 0.05)

    async def scene(port: int) -> None:
        assert await said(port, begun) == b""
        assert (await said(port, REQUEST)).startswith(b"HTTP/1.1 200")

    run(scene)


def test_one_connection_too_many_is_closed_and_the_next_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "CONNECTIONS_MAX", 2)

    async def scene(port: int) -> None:
        silent = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(2)]
        assert await said(port, REQUEST) == b""
        for writer in silent:
            writer.close()
            await writer.wait_closed()
        while not (await said(port, REQUEST)).startswith(b"HTTP/1.1 200"):
            pass

    run(scene)
