"""Where an index is, a folder or a prefix of a bucket; locks on files there, and the room they take."""

import fcntl
import os
import shutil
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, cast

from indexes.layout import leftovers_of
from schemas.errors import BUCKET_NAME, ConfigError, StaleLease
from schemas.settings import CacheSettings, StoreSettings, install_line

if TYPE_CHECKING:
    from indexes.buckets import BucketPath

PATIENCE = 60
"""Seconds that a request to a bucket may take, repetitions included, where no setting says otherwise."""

LEFT_SECONDS = 3600
"""No small file takes that long to be written and renamed; counted by the disk's own times."""


def place_of(settings: StoreSettings) -> Path:
    """Return where the index is that the settings name; raises as `index_place` does."""
    return index_place(settings.index, patience=settings.bucket_seconds)


def index_place(index: str, *, patience: int = PATIENCE) -> Path:
    """Return where the index is that a setting names: a folder, absolute, or a prefix of a bucket.

    A prefix is no `Path`, and has those of its methods which an index needs: it is read, listed, and its
    objects are put whole or not at all.

    Args: patience: seconds that a request to a bucket may take, repetitions included.
    Raises: ConfigError: a URL of no object storage, or one with credentials; or its driver is missing.
    """
    if "://" not in index:
        return Path(index).resolve()
    return object_place(index, patience=patience, subject="--index")


def object_place(
    url: str, *, patience: int, subject: str, to_check: str = BUCKET_NAME, is_checked: bool = False
) -> Path:
    """Return the prefix of a bucket that a URL names; its server is asked at the first use.

    Args: subject: what gave the URL. to_check: what people may look at first where a request fails.
    is_checked: the caller has refused URLs that name more than bucket and prefix.
    Raises: ConfigError: a URL of no object storage, or one with credentials; or its driver is missing.
    """
    try:
        from indexes.buckets import check_url, open_prefix
    except ImportError as error:
        raise ConfigError(
            f"is in object storage, whose driver is not installed; run: {install_line('s3')}",
            subject=subject,
        ) from error
    if not is_checked:
        check_url(url, subject=subject)
    return cast("Path", open_prefix(url, patience=patience, subject=subject, to_check=to_check))


def bucket_of(path: Path) -> "BucketPath | None":
    """Return *path* as what it is in a bucket; None: it is on a disk."""
    return None if isinstance(path, Path) else cast("BucketPath", path)


def is_in_bucket(path: Path) -> bool:
    """Whether a path of an index is in object storage."""
    return bucket_of(path) is not None


def write_durably(path: Path, data: str | bytes, *, folders: int = 1) -> None:
    """Replace a file by rename, so that it is whole before and after a power cut; makes its folder.

    An object is put, which is whole or not at all, too. Of several that write at once, the last one stays.

    Args: folders: of how many that the file is in the entries are flushed: those that may be new.
    """
    data = data.encode() if isinstance(data, str) else data
    if bucket := bucket_of(path):
        bucket.put(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        _write_whole(beside, data)
        _drop_leftovers(path, since=beside.stat().st_mtime - LEFT_SECONDS)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    for folder in path.parents[:folders]:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_whole(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _drop_leftovers(path: Path, *, since: float) -> None:
    """Remove what writers of the file left beside it that were killed: by now they would have renamed it."""
    for left in path.parent.glob(leftovers_of(path.name)):
        with suppress(FileNotFoundError):  # another may remove or rename it
            if left.stat().st_mtime < since:
                left.unlink()


class Replacement:
    """A change of one small file that is made only if nobody has changed it since this was prepared.

    On a disk whoever holds the lease on the index is alone, and it is a rename. An object may also be put by
    a writer that lost its lease while it was paused, so it is put on condition of what it was (`If-Match`,
    `If-None-Match`).

    Source: docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        bucket = bucket_of(path)
        self._etag = bucket.etag() if bucket is not None else None

    def write(self, text: str) -> None:
        """Replace the file.

        Raises: StaleLease: somebody else has changed it since; it stays as it is.
        """
        bucket = bucket_of(self._path)
        if bucket is None:
            write_durably(self._path, text)
        elif not bucket.put_if(text.encode(), etag=self._etag):
            raise StaleLease("another run has published meanwhile; run again", subject=str(self._path))


def remove_tree(folder: Path) -> None:
    """Remove a folder with all it contains; what cannot be removed from a disk stays."""
    if bucket := bucket_of(folder):
        bucket.remove_files(bucket.sizes())
    else:
        shutil.rmtree(folder, ignore_errors=True)


def remove_files(folder: Path, names: Collection[str]) -> None:
    """Remove files under a folder by their names; what is gone is gone."""
    if bucket := bucket_of(folder):
        bucket.remove_files(names)
    else:
        for name in names:
            (folder / name).unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder and those it is in; a bucket has none."""
    if not is_in_bucket(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that the file *path* stands for inside the block; the file goes with the block.

    Waits for whoever holds it. A holder that is killed leaves the file and no lock. Source: flock(2).

    Raises: OSError: the file cannot be made.
    """
    file = _lock(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)


def _lock(path: Path) -> int:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # the folder has just gone with what its last holder took back
        fcntl.flock(file, fcntl.LOCK_EX)
        if _is_there(path, file):
            return file
        os.close(file)


def _is_there(path: Path, file: int) -> bool:
    """Whether the name still leads to the locked file: its last holder has removed it before letting go."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file_bytes(Path(parent, name)) for parent, _, names in os.walk(folder) for name in names)


def file_bytes(path: Path) -> int:
    """Bytes of a file; none of one that is gone, and of what is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0
    return status.st_size if S_ISREG(status.st_mode) else 0


def cache_folder(settings: CacheSettings, name: str) -> Path:
    """Return the folder of one kind of thing: under SITEGRAPH_CACHE, or in the cache of the user.

    Source: XDG Base Directory Specification, and its like on other systems, by platformdirs.
    """
    if settings.cache:
        return Path(settings.cache) / name
    from platformdirs import user_cache_path

    return user_cache_path("sitegraph", appauthor=False) / name
