"""Looking through a pack before it is unpacked, so that a few bytes cannot become more than memory holds.

Source: gitformat-pack(5), "pack-*.pack files have the following format" and "Deltified representation".
"""

import zlib
from io import BufferedIOBase
from typing import IO

from schemas.errors import FetchRefused

_STEP = 64 * 1024
_OFS_DELTA, _REF_DELTA = 6, 7
_ID_BYTES = 20


def check_pack(pack: IO[bytes], *, max_bytes: int) -> None:
    """Read a pack from its start, keeping nothing.

    Raises: FetchRefused: an object would be larger than *max_bytes*, or all together than ten times that;
    it is damaged; it is of a hash other than SHA-1.
    """
    reader = _Reader(pack)
    magic, version = reader.take(4), reader.take(4)
    if magic != b"PACK" or version not in (b"\0\0\0\2", b"\0\0\0\3"):
        raise FetchRefused("sent no pack")
    left = 10 * max_bytes
    for _ in range(int.from_bytes(reader.take(4))):
        size = _check_object(reader, max_bytes)
        left -= size
        if left < 0:
            raise FetchRefused(f"unpacks to more than {10 * max_bytes} bytes (ten times max_mb)")


def _check_object(reader: "_Reader", max_bytes: int) -> int:
    """Pass one object; give the bytes it would take, which a delta says of its result."""
    byte = reader.byte()
    kind, size, shift = (byte >> 4) & 7, byte & 15, 4
    while byte & 0x80:
        byte = reader.byte()
        size |= (byte & 0x7F) << shift
        shift += 7
    if kind == _OFS_DELTA:
        while reader.byte() & 0x80:
            pass
    elif kind == _REF_DELTA:
        reader.take(_ID_BYTES)
    _bound(size, max_bytes)
    head = reader.inflate(size)
    if kind not in (_OFS_DELTA, _REF_DELTA):
        return size
    _, at = _varint(head, 0)
    result, _ = _varint(head, at)
    _bound(result, max_bytes)
    return result


def _bound(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise FetchRefused(f"holds an object of {size} bytes (max_mb in the source file allows {max_bytes})")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise FetchRefused("sent a damaged pack")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


class _Reader:
    def __init__(self, file: IO[bytes] | BufferedIOBase) -> None:
        self._file = file
        self._held = b""

    def take(self, number: int) -> bytes:
        while len(self._held) < number:
            self._fill()
        taken, self._held = self._held[:number], self._held[number:]
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def inflate(self, size: int) -> bytes:
        """Pass a stream of zlib that unfolds to *size* bytes; give the first of them."""
        stream, passed, head = zlib.decompressobj(), 0, b""
        while not stream.eof:
            if not self._held:
                self._fill()
            try:
                piece = stream.decompress(self._held, _STEP)
            except zlib.error as error:
                raise FetchRefused("sent a damaged pack") from error
            self._held = stream.unused_data if stream.eof else stream.unconsumed_tail
            head += piece[: 32 - len(head)]
            passed += len(piece)
            if passed > size:
                raise FetchRefused("sent a damaged pack")
        return head

    def _fill(self) -> None:
        more = self._file.read(_STEP)
        if not more:
            raise FetchRefused("sent a pack that breaks off")
        self._held += more
