"""One connection as httpcore2 wants it, straight on asyncio.

The library's own goes through anyio, which serves other event loops too, at the price of a cancel scope and
a few look-ups for every read and every write.
"""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpcore2

_HELD = 64 * 1024
"""Bytes that may wait to be read, twice over, before the other side is held back."""


async def open_stream(host: str, port: int, timeout: float | None) -> "Stream":
    """Connect within *timeout* seconds. Raises: ConnectTimeout, ConnectError."""
    loop = asyncio.get_running_loop()
    reader = _CountingReader(limit=_HELD, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    with _named(httpcore2.ConnectTimeout, httpcore2.ConnectError):
        async with asyncio.timeout(timeout):
            transport, _ = await loop.create_connection(lambda: protocol, host, port)
    return Stream(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


class _CountingReader(asyncio.StreamReader):
    came = 0

    def feed_data(self, data: Any) -> None:
        self.came += len(data)
        super().feed_data(data)


class Stream(httpcore2.AsyncNetworkStream):  # type: ignore[misc]  # httpcore2 comes without types here
    """Reads and writes within their time limits; errors are those of httpcore2."""

    def __init__(self, reader: _CountingReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._read = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has come, empty at the end. Raises: ReadTimeout, ReadError."""
        with _named(httpcore2.ReadTimeout, httpcore2.ReadError):
            async with asyncio.timeout(timeout):
                data = await self._reader.read(max_bytes)
        self._read += len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of *buffer*. Raises: WriteTimeout, WriteError."""
        if not buffer:
            return
        with _named(httpcore2.WriteTimeout, httpcore2.WriteError):
            self._writer.write(buffer)
            async with asyncio.timeout(timeout):
                await self._writer.drain()

    async def aclose(self) -> None:
        """Close at once: what the other side may still send is of no use."""
        self._writer.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "Stream":
        """Go on encrypted. Raises: ConnectTimeout, ConnectError."""
        try:
            with _named(httpcore2.ConnectTimeout, httpcore2.ConnectError):
                async with asyncio.timeout(timeout):
                    await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except BaseException:
            await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """Report on the connection; `is_readable`, asked of an idle one: it was closed or spoken to."""
        if info == "is_readable":
            spoken = self._reader.came != self._read
            return spoken or self._reader.at_eof() or self._writer.is_closing()
        return self._writer.get_extra_info(info)


@contextmanager
def _named(timeout: type[Exception], error: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as cause:
        raise timeout(cause) from cause
    except (OSError, EOFError) as cause:
        raise error(cause) from cause
