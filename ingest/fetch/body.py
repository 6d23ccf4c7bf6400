"""One response body: capped, decoded, and whole or not at all.

The client's own decoders pass a truncated gzip body as a whole one and undo as many layers as a server
stacks; a body cut short must never be stored as the document.
What follows a whole member and is none, zeros or a comment, is ignored, as browsers do.
Source: crawl rules, section 2; RFC 9110, 8.4; RFC 1952, 2.2 (several members).
"""

import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Protocol

import brotli
from backports import zstd

from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.media import HEAD_BYTES, BodyLimit

ACCEPT_ENCODING = "gzip, br, zstd"
_STEP = 64 * 1024
_CODINGS = frozenset(
    {
        "gzip", "x-gzip", "br", "zstd", "deflate", "compress", "x-compress", "exi", "pack200-gzip", "dcb",
        "dcz", "aes128gcm", "aws-chunked", "bzip2", "lzma", "xz", "lz4", "snappy",
    }
)  # fmt: skip
"""What a body may be coded in; other names, such as `utf-8` or `none`, say nothing.
Source: IANA, HTTP Content Coding Registry, and what is in use beside it."""


class Decoder(Protocol):
    """Turns received bytes into decoded ones."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decoded pieces, each of bounded size however much *data* unfolds to."""

    def ended(self) -> bool:
        """Whether the coding's own end has been seen."""


def build_decoder(coding: str | None) -> Decoder | None:
    """Return the decoder for a Content-Encoding; None for no coding.

    Raises: FetchFault: a coding that nobody asked for, or more than one.
    """
    names = [name.strip() for name in (coding or "").lower().split(",")]
    name = ", ".join(name for name in names if name in _CODINGS)
    if not name:
        return None
    made = _DECODERS.get(name)
    if made is None:
        raise FetchFault(FetchFaultKind.CODING, f"content coding {name[:80]!r} is not one of gzip, br, zstd")
    return made()


class _Behind:
    """Whether what comes behind a whole member is another; once something is none, all the rest is none."""

    def __init__(self, magic: bytes) -> None:
        self._magic = magic
        self._held = b""
        self._is_over = False

    def next_member(self, data: bytes) -> bytes:
        """Return the start of another member, empty where there is none yet."""
        data, self._held = self._held + data, b""
        if self._is_over or data.startswith(self._magic):
            return b"" if self._is_over else data
        self._is_over = not self._magic.startswith(data)
        self._held = b"" if self._is_over else data
        return b""


class _Gzip:
    def __init__(self) -> None:
        self._member = zlib.decompressobj(31)
        self._behind = _Behind(b"\x1f\x8b")

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._member.eof:
                if not (data := self._behind.next_member(data)):
                    return
                self._member = zlib.decompressobj(31)
            try:
                piece = self._member.decompress(data, _STEP)
            except zlib.error as error:
                raise _undecodable("gzip", error) from None
            data = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if piece:
                yield piece

    def ended(self) -> bool:
        return self._member.eof


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished():
            try:
                piece = self._stream.process(data, output_buffer_limit=_STEP)
            except brotli.error as error:
                raise _undecodable("br", error) from None
            if piece:
                yield piece
            elif self._stream.can_accept_more_data():  # True says so also while output is still held back
                return
            data = b""

    def ended(self) -> bool:
        return bool(self._stream.is_finished())


class _Zstd:
    def __init__(self) -> None:
        self._frame = zstd.ZstdDecompressor()
        self._behind = _Behind(b"\x28\xb5\x2f\xfd")

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._frame.eof or self._frame.needs_input):
            if self._frame.eof:
                if not (data := self._behind.next_member(data)):
                    return
                self._frame = zstd.ZstdDecompressor()
            try:
                piece = self._frame.decompress(data, _STEP)
            except zstd.ZstdError as error:
                raise _undecodable("zstd", error) from None
            data = self._frame.unused_data if self._frame.eof else b""
            if piece:
                yield piece

    def ended(self) -> bool:
        return bool(self._frame.eof)


_DECODERS: dict[str, type[_Gzip] | type[_Brotli] | type[_Zstd]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "br": _Brotli,
    "zstd": _Zstd,
}


def _undecodable(coding: str, error: Exception) -> FetchFault:
    return FetchFault(FetchFaultKind.UNDECODABLE, f"the body is not valid {coding} ({error})")


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
