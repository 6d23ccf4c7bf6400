"""Bytes kept by their hash: in local files, or in memory."""

import hashlib
import os
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from indexes.stores.packing import SUFFIX, missing, pack, place_of, unpack
from schemas.errors import StoreUnavailable
from schemas.hashing import sha256_hex


class FileRawStore:
    """Keeps the port RawStore in `ab/cd/<sha256>.zst` under a folder.

    A file appears whole or not at all: it is written beside its place, flushed, and renamed. Plain files
    and no fsspec, which knows neither flush nor rename of a folder entry. Threads and processes may share it.

    Args: fsync: flush to the disk before `put` returns; without it a power cut may lose what was put.
    """

    def __init__(self, root: Path, *, fsync: bool = True) -> None:
        self._root = root
        self._fsync = fsync
        self.has_grown = False

    def put(self, data: bytes) -> str:
        sha256 = sha256_hex(data)
        if not self.has(sha256):
            self._write(self._path(sha256), data)
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
        return unpack(packed, sha256, subject=str(path))

    def has(self, sha256: str) -> bool:
        from zstandard import ZstdDecompressor, ZstdError

        try:
            with self._path(sha256).open("rb") as file, ZstdDecompressor().stream_reader(file) as data:
                return hashlib.file_digest(data, "sha256").hexdigest() == sha256
        except (OSError, ZstdError):
            return False

    def drop(self, sha256: str) -> None:
        self._path(sha256).unlink(missing_ok=True)

    def hashes(self) -> Iterator[str]:
        for path in sorted(self._root.glob(f"??/??/*{SUFFIX}")):
            yield path.stem

    def drop_all_but(self, named: Collection[str]) -> int:
        """Delete as the port says, leftovers of a crash too."""
        kept = {self._path(sha256) for sha256 in named}
        dropped = [path for path in self._root.glob("??/??/*") if path not in kept]
        for path in dropped:
            path.unlink(missing_ok=True)
        return len(dropped)

    def _path(self, sha256: str) -> Path:
        return self._root / place_of(sha256)

    def _write(self, path: Path, data: bytes) -> None:
        part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                file.write(pack(data))
                if self._fsync:
                    file.flush()
                    os.fsync(file.fileno())
            part.replace(path)
            if self._fsync:
                self._sync_folders(path.parent)
        finally:
            part.unlink(missing_ok=True)

    def _sync_folders(self, folder: Path) -> None:
        """Flush the entries that lead to a new file; each folder on the way may be new as well."""
        for directory in (folder, folder.parent, self._root):
            descriptor = os.open(directory, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


class MemoryRawStore:
    """Keeps the port RawStore in a dict."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self.has_grown = False

    def put(self, data: bytes) -> str:
        sha256 = sha256_hex(data)
        if sha256 not in self._data:
            self._data[sha256] = data
            self.has_grown = True
        return sha256

    def get(self, sha256: str) -> bytes:
        try:
            data = self._data[sha256]
        except KeyError as error:
            raise missing(sha256) from error
        return data

    def has(self, sha256: str) -> bool:
        return sha256 in self._data

    def drop(self, sha256: str) -> None:
        self._data.pop(sha256, None)

    def hashes(self) -> Iterator[str]:
        yield from sorted(self._data)

    def drop_all_but(self, named: Collection[str]) -> int:
        dropped = self._data.keys() - set(named)
        for sha256 in dropped:
            del self._data[sha256]
        return len(dropped)
