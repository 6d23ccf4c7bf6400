"""Records of a WARC file one by one; damage costs the record it is in, and no more.

Source: WARC 1.1 (ISO 28500:2017), 4 and annex D (one gzip member a record).
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecordLoader

_GZIP = b"\x1f\x8b\x08"
_WARC = b"WARC/"
_STEP = 64 * 1024
_HEADERS = 1_000_000
"""Bytes that the headers of a record may have, beside its block."""

_LONGEST_LINE = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record begins: in a file, and in the gzip member that begins there."""

    file: Path
    offset: int
    inner: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record's own headers (names in lower case) and its block; None for one larger than is read."""

    place: Place
    headers: dict[str, str]
    block: bytes | None


@dataclass(frozen=True, slots=True)
class Damage:
    """Where a file is no WARC, and why."""

    offset: int
    reason: str


class _Damaged(Exception):
    pass


def read_records(file: Path, *, max_bytes: int) -> Iterator[Record | Damage]:
    """Yield the records of a file and its damages, in order; what stands between two damages is read.

    *max_bytes* is the most that a block may have, and a member unfold to. Raises: OSError.
    """
    with file.open("rb") as stream:
        offset = _after_line_ends(stream, 0)
        while offset is not None:
            try:
                for record, end in _records_at(stream, Place(file=file, offset=offset), max_bytes):
                    yield record
                    offset = _after_line_ends(stream, end)
            except _Damaged as error:
                assert offset is not None
                yield Damage(offset, str(error))
                offset = _next_start(stream, offset + 1)


def read_record(place: Place, *, max_bytes: int) -> Record | None:
    """Read one record again; None where it is not there any more. Raises: OSError."""
    with place.file.open("rb") as stream:
        try:
            found = _records_at(stream, place, max_bytes)
            return next((record for record, _ in found if record.place == place), None)
        except _Damaged:
            return None


def _after_line_ends(stream: IO[bytes], offset: int) -> int | None:
    """Return where something else than line ends begins; None where nothing does."""
    while True:
        stream.seek(offset)
        block = stream.read(_STEP)
        if rest := block.lstrip(b"\r\n"):
            return offset + len(block) - len(rest)
        if not block:
            return None
        offset += len(block)


def _records_at(stream: IO[bytes], place: Place, max_bytes: int) -> Iterator[tuple[Record, int]]:
    """Yield the records that begin at a place, with the offset that comes after each."""
    stream.seek(place.offset)
    if stream.read(len(_GZIP)) != _GZIP:
        stream.seek(place.offset)
        record = _parse(stream, place, max_bytes)
        yield record, stream.tell()
        return
    stream.seek(place.offset)
    data, length = _unfold(stream, max_bytes + _HEADERS)
    member = BytesIO(data)
    while (at := _after_line_ends(member, member.tell())) is not None:
        member.seek(at)
        inner = Place(file=place.file, offset=place.offset, inner=at)
        yield _parse(member, inner, max_bytes), place.offset + length


def _unfold(stream: IO[bytes], max_bytes: int) -> tuple[bytes, int]:
    """Undo the gzip member that begins here; give its content and its length in the file."""
    member, content, taken, data = zlib.decompressobj(31), bytearray(), 0, b""
    while not member.eof:
        if not data:
            data = stream.read(_STEP)
            taken += len(data)
            if not data:
                raise _Damaged("breaks off")
        try:
            content += member.decompress(data, _STEP)
        except zlib.error as error:
            raise _Damaged("is not valid gzip") from error
        data = member.unused_data if member.eof else member.unconsumed_tail
        if len(content) > max_bytes:
            raise _Damaged(
                f"unfolds to more than {max_bytes} bytes; if these are many records in one gzip member, "
                "run: warcio recompress"
            )
    return bytes(content), taken - len(data)


def _parse(stream: IO[bytes], place: Place, max_bytes: int) -> Record:
    """Read one record; the stream then stands behind it."""
    line = stream.readline(_LONGEST_LINE)
    if not line.startswith(_WARC):
        raise _Damaged("is no WARC record")
    try:
        found: Any = ArcWarcRecordLoader().parse_record_stream(stream, line, "warc", no_record_parse=True)
        headers = {name.lower(): value for name, value in found.rec_headers.headers}
        length = int(headers.get("content-length", ""))
    except (ArchiveLoadFailed, ValueError, AttributeError, TypeError) as error:
        raise _Damaged("has headers that are none of a WARC record") from error
    begin = stream.tell()
    block = stream.read(length) if 0 <= length <= max_bytes else None
    if length < 0 or (block is not None and len(block) < length):
        raise _Damaged("breaks off")
    stream.seek(begin + length)
    return Record(place=place, headers=headers, block=block)


def _next_start(stream: IO[bytes], offset: int) -> int | None:
    """Find where a record seems to begin; None where none does."""
    while True:
        stream.seek(offset)
        block = stream.read(16 * _STEP)
        if len(block) < len(_GZIP):
            return None
        found = [at for at in (block.find(_GZIP), _line_start(block)) if at >= 0]
        if found and _is_start(stream, offset + min(found)):
            return offset + min(found)
        offset += min(found) + 1 if found else max(1, len(block) - len(_WARC) - 1)


def _line_start(block: bytes) -> int:
    at = block.find(b"\n" + _WARC + b"1.")
    return at + 1 if at >= 0 else -1


def _is_start(stream: IO[bytes], offset: int) -> bool:
    stream.seek(offset)
    head = stream.read(1024)
    if not head.startswith(_GZIP):
        return True
    try:
        return zlib.decompressobj(31).decompress(head, len(_WARC)).startswith(_WARC)
    except zlib.error:
        return False
