"""A connection on asyncio reads, writes, waits and fails as httpcore2 expects of it."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpcore2
import pytest

from ingest.fetch.gate import Stream, open_stream
from tests.fakes.certificate import write_certificate

_MORE_THAN_IS_HELD = 3_000_000

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(data.upper())
    writer.close()


async def _hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def _say_too_much(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"unasked")
    await _hold(reader, writer)


async def _leave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


@asynccontextmanager
async def _connected(serve: Serve, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Stream]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    stream = await open_stream("127.0.0.1", server.sockets[0].getsockname()[1], 5.0)
    try:
        yield stream
    finally:
        await stream.aclose()
        server.close()
        await server.wait_closed()


async def _until_readable(stream: Stream) -> None:
    async with asyncio.timeout(5):
        while not stream.get_extra_info("is_readable"):
            await asyncio.sleep(0.01)


def test_what_is_written_arrives_and_what_is_answered_is_read() -> None:
    async def talk() -> bytes:
        async with _connected(_echo) as stream:
            await stream.write(b"", timeout=1.0)
            await stream.write(b"hello", timeout=1.0)
            return await stream.read(1000, timeout=5.0)

    assert asyncio.run(talk()) == b"HELLO"


def test_a_connection_goes_on_encrypted_and_its_certificate_is_checked(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)

    async def talk(trusted: ssl.SSLContext) -> int:
        async with _connected(_echo, tls=served) as plain:
            stream = await plain.start_tls(trusted, "localhost", 5.0)
            writing = asyncio.create_task(stream.write(b"x" * _MORE_THAN_IS_HELD, timeout=5.0))
            came = 0
            while came < _MORE_THAN_IS_HELD:
                came += (await stream.read(65536, timeout=5.0)).count(b"X")
            await writing
            return came

    assert asyncio.run(talk(ssl.create_default_context(cafile=certificate))) == _MORE_THAN_IS_HELD
    with pytest.raises(httpcore2.ConnectError):
        asyncio.run(talk(ssl.create_default_context()))


def test_silence_ends_in_a_timeout_of_the_library() -> None:
    async def wait() -> None:
        async with _connected(_hold) as stream:
            await stream.read(1000, timeout=0.05)

    with pytest.raises(httpcore2.ReadTimeout):
        asyncio.run(wait())


def test_a_port_nobody_listens_on_is_a_connect_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(httpcore2.ConnectError):
        asyncio.run(open_stream("127.0.0.1", port, 5.0))


def test_an_idle_connection_is_readable_once_it_is_spoken_to_or_closed_and_not_before() -> None:
    async def look(serve: Serve) -> None:
        async with _connected(serve) as stream:
            await _until_readable(stream)

    async def stay() -> object:
        async with _connected(_echo) as stream:
            await stream.write(b"hello", timeout=1.0)
            await stream.read(1000, timeout=5.0)
            return stream.get_extra_info("is_readable")

    asyncio.run(look(_say_too_much))
    asyncio.run(look(_leave))
    assert asyncio.run(stay()) is False
