"""Bytes kept by their hash: in a folder or a bucket, or over others that are only read."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from indexes.places import bucket_of, remove_files, write_durably
from indexes.ports import RawStore
from schemas.errors import DamageFound, StoreUnavailable
from schemas.ids import sha256_hex

_ZSTD_LEVEL = 3

SUFFIX = ".zst"
_FOLDERS = 3
"""Of a file: `cd`, `ab` and the root, each of which may be new."""


def place_by_hash(sha256: str) -> str:
    """Return the path below the store's root: `ab/cd/<sha256>.zst`."""
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}{SUFFIX}"


def pack_bytes(data: bytes) -> bytes:
    """Compress."""
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=_ZSTD_LEVEL).compress(data)


def unpack_bytes(packed: bytes, sha256: str, *, subject: str) -> bytes:
    """Decompress what `pack` made. Raises: DamageFound: it is not, or not the bytes of that hash."""
    from zstandard import ZstdDecompressor, ZstdError

    try:
        data = ZstdDecompressor().decompress(packed)
    except ZstdError as error:
        raise _damaged(subject) from error
    if sha256_hex(data) != sha256:
        raise _damaged(subject)
    return data


def missing(subject: str) -> DamageFound:
    """Say that bytes are not there."""
    return DamageFound("is missing; the next run of its source restores it", subject=subject)


def _damaged(subject: str) -> DamageFound:
    return DamageFound("no longer matches its hash; the next run of its source restores it", subject=subject)


class FileRawStore:
    """Keeps the port RawStore in `ab/cd/<sha256>.zst` under a folder, or under a prefix of a bucket.

    A file appears whole or not at all. `has` reads: a size or an ETag would say that something is there, not
    that it is still these bytes, and a small object costs as much to ask for as to read. Threads and
    processes may share it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.has_grown = False

    def put(self, data: bytes) -> str:
        sha256 = sha256_hex(data)
        if not self.has(sha256):
            write_durably(self._path(sha256), pack_bytes(data), folders=_FOLDERS)
            self.has_grown = True
        return sha256

    def get(self, sha256: str) -> bytes:
        path = self._path(sha256)
        try:
            packed = path.read_bytes()
        except FileNotFoundError as error:
            raise missing(str(path)) from error
        except OSError as error:
            raise StoreUnavailable(f"raw bytes cannot be read: {error}", subject=str(path)) from error
        return unpack_bytes(packed, sha256, subject=str(path))

    def has(self, sha256: str) -> bool:
        path = self._path(sha256)
        try:
            unpack_bytes(path.read_bytes(), sha256, subject=str(path))
        except (OSError, DamageFound):
            return False
        return True

    def drop(self, sha256: str) -> None:
        self._path(sha256).unlink(missing_ok=True)

    def hashes(self) -> Iterator[str]:
        yield from sorted(PurePosixPath(name).stem for name in self._names() if name.endswith(SUFFIX))

    def drop_all_but(self, named: Collection[str]) -> int:
        """Delete as the port says, leftovers of a crash too."""
        kept = set(map(place_by_hash, named))
        dropped = [name for name in self._names() if name not in kept]
        remove_files(self._root, dropped)
        return len(dropped)

    def _names(self) -> Iterable[str]:
        """The names of all files under the root."""
        if bucket := bucket_of(self._root):
            return bucket.sizes()
        return [path.relative_to(self._root).as_posix() for path in self._root.glob("??/??/*")]

    def _path(self, sha256: str) -> Path:
        return self._root / place_by_hash(sha256)


@dataclass(frozen=True, slots=True)
class OverlayRawStore:
    """Keeps the port RawStore: reads what is in *over*, else in *under*; writes and deletes in *over*."""

    over: RawStore
    under: RawStore

    @property
    def has_grown(self) -> bool:
        return self.over.has_grown

    def put(self, data: bytes) -> str:
        return self.over.put(data)

    def get(self, sha256: str) -> bytes:
        try:
            return self.over.get(sha256)
        except DamageFound:
            return self.under.get(sha256)

    def has(self, sha256: str) -> bool:
        return self.over.has(sha256) or self.under.has(sha256)

    def drop(self, sha256: str) -> None:
        self.over.drop(sha256)

    def hashes(self) -> Iterator[str]:
        yield from sorted({*self.over.hashes(), *self.under.hashes()})

    def drop_all_but(self, named: Collection[str]) -> int:
        return self.over.drop_all_but(named)
