"""Fetch files and compare them with their hashes before they get their names; what a cut leaves is kept."""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from indexes.copies.places import IndexPlace, iter_chunks
from indexes.copies.wanted import WantedFile
from schemas.errors import DamageFound, Stopped, StoreUnavailable
from schemas.no_room import telling_no_room

PARTS = ".part"
THREADS = 8
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.5


def is_whole(root: Path, file: WantedFile, trusted: Mapping[str, str]) -> bool:
    """Whether a file is here as it should be; of one with a *trusted* stamp only the size is compared."""
    path = root / file.path
    try:
        size = path.stat().st_size
    except OSError:
        return False
    if file.size is not None and file.size != size:
        return False
    return trusted.get(file.path) == f"{size}:{file.sha256}" or matches(path, file)


def matches(path: Path, file: WantedFile) -> bool:
    """Whether the bytes of *path* are those of *file*."""
    from zstandard import ZstdDecompressor, ZstdError

    try:
        if file.size is not None and path.stat().st_size != file.size:
            return False
        with path.open("rb") as data:
            if not file.packed:
                return hashlib.file_digest(data, "sha256").hexdigest() == file.sha256
            with ZstdDecompressor().stream_reader(data) as unpacked:
                return hashlib.file_digest(unpacked, "sha256").hexdigest() == file.sha256
    except (OSError, ZstdError):
        return False


def part_of(root: Path, file: WantedFile) -> Path:
    """Return where the bytes of a file are until all of them are there."""
    return root / PARTS / f"{file.sha256}-{hashlib.sha256(file.path.encode()).hexdigest()[:8]}"


class Fetching:
    """Fetches files of an index into a copy, some at a time.

    Args: most: bytes of a file whose size nobody named. advance: told how many bytes are done.
    """

    def __init__(self, place: IndexPlace, root: Path, *, most: int, advance: Callable[[int], None]) -> None:
        self._place, self._root, self._most, self._advance = place, root, most, advance
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._fetched = 0

    def fetch_all(self, files: Sequence[WantedFile]) -> int:
        """Fetch *files*, and return how many bytes came.

        Raises: DamageFound: one is not what its hash says; FileNotFoundError; StoreUnavailable: the place;
        NoRoom: the disk of the copy is full.
        """
        if not files:
            return 0
        with ThreadPoolExecutor(THREADS, thread_name_prefix="pull") as pool:
            try:
                for _ in pool.map(self.fetch, files):
                    pass
            except BaseException:
                self._stopped.set()  # Ctrl-C does not wait for the rest of a large file
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return self._fetched

    def fetch(self, file: WantedFile) -> None:
        """Fetch one file, three times at most; raises as `fetch_all`."""
        with telling_no_room(str(self._root)):
            self._fetch(file)

    def _fetch(self, file: WantedFile) -> None:
        part = part_of(self._root, file)
        part.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(_ATTEMPTS):
            try:
                self._continue(part, file)
            except StoreUnavailable:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(_PAUSE_SECONDS * 2**attempt)
                continue
            if matches(part, file):
                self._place_part(part, file)
                return
            part.unlink(
                missing_ok=True
            )  # of a server that sends something else once, or a part cut elsewhere
        raise DamageFound(
            "is not what its generation was published with; check it there with: sitegraph verify",
            subject=f"{self._place.url}/{file.path}",
        )

    def _continue(self, part: Path, file: WantedFile) -> None:
        """Fetch what is missing of a part; a byte more than there should be is enough to give it up."""
        done = part.stat().st_size if part.is_file() and file.size is not None else 0
        if done == file.size and part.is_file():
            return
        most = self._most if file.size is None else file.size
        with (
            self._place.opened(file.path, done) as (start, source),
            part.open("ab" if start else "wb") as target,
        ):
            for chunk in iter_chunks(source, most=most + 1 - start):
                target.write(chunk)
                self._count(len(chunk))
            _sync(target)

    def _count(self, more: int) -> None:
        if self._stopped.is_set():
            raise Stopped("another file could not be fetched, or a stop was asked for")
        with self._lock:
            self._fetched += more
            self._advance(more)

    def _place_part(self, part: Path, file: WantedFile) -> None:
        target = self._root / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
