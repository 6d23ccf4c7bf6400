"""Which files a version of a table consists of, read from its manifest without the driver.

The driver has no call that tells them. The manifest is a protocol buffer, found by the footer of its file, of
which few fields are read here.

Source: github.com/lance-format/lance, protos/table.proto and docs/src/format/table.
"""

import json
import struct
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from schemas.errors import DamageFound
from schemas.health import TableFigures

_FOOTER = struct.Struct("<QHH4s")
_MAGIC = b"LANC"
_NEWEST = 2**64 - 1
"""Manifests are named by what is left to this, so that the newest comes first in a listing."""
_FRAGMENT, _INDEX_SECTION = 2, 6
_DATA_FILE, _DELETION_FILE = 2, 3
_PHYSICAL_ROWS, _DELETED_ROWS, _INDEX_NAME = 4, 4, 3
_SUFFIXES = (".arrow", ".bin")
"""Of deletion files, by their type."""
# RuntimeError: StopIteration inside a generator (PEP 479).
_FAULTS = (OSError, ValueError, KeyError, TypeError, IndexError, struct.error, StopIteration, RuntimeError)
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def tag_of(generation: int) -> str:
    """Name of the version of a table that a generation reads."""
    return f"gen-{generation}"


def maintained_tag_of(generation: int) -> str:
    """Name of the version with the same rows that maintenance left for the next generation to build on."""
    return f"{tag_of(generation)}-maintained"


def files_of(table: Path, generation: int) -> tuple[str, ...]:
    """Return the files that a reader of *generation* opens, relative to the folder of the *table*, sorted.

    Raises: DamageFound: the tag or the manifest of the version cannot be read.
    """
    return _files_at(table, tag_of(generation), generation)


def maintained_files_of(table: Path, generation: int) -> tuple[str, ...]:
    """The same of the version that maintenance left for the next generation; none where there is none.

    Raises: DamageFound: its manifest cannot be read.
    """
    tag = maintained_tag_of(generation)
    return _files_at(table, tag, generation) if has_maintained(table, generation) else ()


def has_maintained(table: Path, generation: int) -> bool:
    """Whether maintenance left a version for the generation after this one."""
    return _tag_file(table, maintained_tag_of(generation)).exists()


def discard_maintained(table: Path, generation: int) -> None:
    """Let the next generation build on what readers see; for who holds the lease on the index."""
    _tag_file(table, maintained_tag_of(generation)).unlink(missing_ok=True)


def _tag_file(table: Path, tag: str) -> Path:
    return table / "_refs" / "tags" / f"{tag}.json"


def _files_at(table: Path, name: str, generation: int) -> tuple[str, ...]:
    tag = f"_refs/tags/{name}.json"
    try:
        version = _version((table / tag).read_bytes())
        manifest = f"_versions/{_NEWEST - version}.manifest"
        data = (table / manifest).read_bytes()
        named = {tag, manifest, *_data_files(data), *_index_files(table, data)}
    except _FAULTS as error:
        raise DamageFound(f"generation {generation} cannot be read: {error!r}", subject=table.stem) from error
    return tuple(sorted(named))


def shape_of(table: Path, generation: int) -> TableFigures:
    """Describe the version of a *table* that is built on next: of *generation*, or what maintenance made.

    Raises: DamageFound: it cannot be read.
    """
    tags = (_tag_file(table, name) for name in (maintained_tag_of(generation), tag_of(generation)))
    try:
        tag = next(tag for tag in tags if tag.exists())
        data = (table / f"_versions/{_NEWEST - _version(tag.read_bytes())}.manifest").read_bytes()
        return _shape(data)
    except _FAULTS as error:
        raise DamageFound(f"generation {generation} cannot be read: {error!r}", subject=table.stem) from error


def unreadable_in(table: Path) -> tuple[str, ...]:
    """Return the files that stop every opening of a *table*, whatever the generation: its tags, its newest
    manifest.

    Relative to the folder of the table, sorted.
    """
    newest = sorted((table / "_versions").glob("*.manifest"))[:1]
    checks: list[tuple[Path, Callable[[bytes], object]]] = [(path, _root) for path in newest]
    checks += [(path, _version) for path in (table / "_refs" / "tags").glob("*.json")]
    return tuple(sorted(path.relative_to(table).as_posix() for path, read in checks if not _can(read, path)))


def _can(read: Callable[[bytes], object], path: Path) -> bool:
    try:
        read(path.read_bytes())
    except _FAULTS:
        return False
    return True


def _version(tag: bytes) -> int:
    return int(json.loads(tag)["version"])


def _data_files(data: bytes) -> Iterator[str]:
    for fragment in _messages(_root(data), _FRAGMENT):
        number = _numbers(fragment).get(1, 0)
        for file in _messages(fragment, _DATA_FILE):
            yield f"data/{next(_messages(file, 1)).decode()}"
        for deletion in _messages(fragment, _DELETION_FILE):
            entry = _numbers(deletion)
            name = f"{number}-{entry.get(2, 0)}-{entry.get(3, 0)}"
            yield f"_deletions/{name}{_SUFFIXES[entry.get(1, 0)]}"


def _index_files(table: Path, data: bytes) -> Iterator[str]:
    section = _numbers(_root(data)).get(_INDEX_SECTION)
    if section is None:
        return
    for index in _messages(_message_at(data, section), 1):
        folder = table / "_indices" / str(uuid.UUID(bytes=next(_messages(next(_messages(index, 1)), 1))))
        yield from (path.relative_to(table).as_posix() for path in folder.rglob("*") if path.is_file())


def _shape(data: bytes) -> TableFigures:
    rows = deleted = files = 0
    for fragment in _messages(_root(data), _FRAGMENT):
        files, rows = files + 1, rows + _numbers(fragment).get(_PHYSICAL_ROWS, 0)
        deleted += sum(_numbers(one).get(_DELETED_ROWS, 0) for one in _messages(fragment, _DELETION_FILE))
    section = _numbers(_root(data)).get(_INDEX_SECTION)
    indexes = () if section is None else _messages(_message_at(data, section), 1)
    names = Counter(next(_messages(index, _INDEX_NAME)) for index in indexes)
    return TableFigures(files=files, rows=rows, deleted=deleted, segments=max(names.values(), default=0))


def _root(data: bytes) -> bytes:
    position, _major, _minor, magic = _FOOTER.unpack(data[-_FOOTER.size :])
    if magic != _MAGIC:
        raise ValueError("no manifest of a table")
    return _message_at(data, position)


def _message_at(data: bytes, position: int) -> bytes:
    start = position + 4
    return data[start : start + int.from_bytes(data[position:start], "little")]


def _messages(message: bytes, wanted: int) -> Iterator[bytes]:
    return (value for number, value in _fields(message) if number == wanted and isinstance(value, bytes))


def _numbers(message: bytes) -> dict[int, int]:
    return {number: value for number, value in _fields(message) if isinstance(value, int)}


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field. Source: protobuf.dev/programming-guides/encoding."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        value: int | bytes
        if kind == _VARINT:
            value, place = _varint(message, place)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}.get(kind)
            if kind == _BYTES:
                length, place = _varint(message, place)
            if length is None or place + length > len(message):
                raise ValueError("no protocol buffer")
            value, place = message[place : place + length], place + length
        yield key >> 3, value


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value, shift, place = value | (byte & 0x7F) << shift, shift + 7, place + 1
        if byte < 0x80:
            return value, place
