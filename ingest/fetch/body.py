"""Read one response body: capped, decoded, and whole or not at all."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from ingest.fetch.decode import build_decoder
from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.limits import BodyLimit
from ingest.fetch.media import HEAD_BYTES

Judge = Callable[[str | None, bytes], BodyLimit]
"""Content type and first bytes (empty before the body) to the body's cap; raises UnsupportedMedia."""

_DRAIN = 64 * 1024


class Body:
    """A response body on its way in; `received` counts its bytes on the wire.

    `framed`: a length or a coding proves where it ends, the closing of the connection alone does not.
    """

    def __init__(self, response: Any, headers: Mapping[str, str]) -> None:
        self.received = 0
        self._response = response
        self._length = headers.get("content-length", "")
        self._type = headers.get("content-type")
        self._coding = headers.get("content-encoding")
        self._chunked = "transfer-encoding" in headers

    @property
    def framed(self) -> bool:
        """Whether something other than the closed connection tells the end."""
        return bool(self._length or self._chunked) or build_decoder(self._coding) is not None

    async def drain(self) -> None:
        """Read a short body away, so that the connection can serve again; a long one will close it."""
        async with aclosing(self._wire()) as wire:
            async for _ in wire:
                if self.received > _DRAIN:
                    return

    async def read(self, judge: Judge, on_limit: Callable[[BodyLimit], None]) -> bytes:
        """Return the decoded body; *on_limit* hears each cap *judge* names.

        Raises: FetchFault: too large, truncated, undecodable; UnsupportedMedia, from *judge*.
        """
        limit = judge(self._type, b"")
        on_limit(limit)
        if self._length.isdecimal() and int(self._length) > limit.max_bytes and not limit.cut:
            raise FetchFault(FetchFaultKind.TOO_LARGE, f"{self._length} bytes exceed {limit.cap}")
        body, judged = bytearray(), False
        async with aclosing(self._decoded()) as pieces:
            async for piece in pieces:
                body += piece
                if not judged and len(body) >= HEAD_BYTES:
                    judged, limit = True, judge(self._type, bytes(body[:HEAD_BYTES]))
                    on_limit(limit)
                if len(body) > limit.max_bytes:
                    break
        if body and not judged:
            limit = judge(self._type, bytes(body))
        return _cap(body, limit)

    async def _wire(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._response.aiter_stream()) as stream:
            async for data in stream:
                self.received += len(data)
                yield data

    async def _decoded(self) -> AsyncGenerator[bytes, None]:
        decoder = build_decoder(self._coding)
        async with aclosing(self._wire()) as wire:
            async for data in wire:
                if decoder is None:
                    yield data
                    continue
                for piece in decoder.feed(data):
                    yield piece
        if decoder is not None and not decoder.ended():
            raise FetchFault(FetchFaultKind.TRUNCATED, "the body ended before its content coding did")


def _cap(body: bytearray, limit: BodyLimit) -> bytes:
    if len(body) <= limit.max_bytes:
        return bytes(body)
    if not limit.cut:
        raise FetchFault(FetchFaultKind.TOO_LARGE, f"the decoded body exceeds {limit.cap}")
    return bytes(memoryview(body)[: limit.max_bytes])
