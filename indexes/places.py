"""Where an index is: a folder, or a prefix of a bucket, both with the methods of `pathlib.Path`.

Nothing of object storage is imported for a folder.
"""

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from indexes.layout import leftovers_of
from indexes.object_files import PATIENCE
from schemas.errors import ConfigError, StaleLease
from schemas.extras import install_line
from schemas.settings import Settings

if TYPE_CHECKING:
    from indexes.buckets import BucketPath

LEFT_SECONDS = 3600
"""No small file takes that long to be written and renamed; counted by the disk's own times."""


def place_of(settings: Settings) -> Path:
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
    try:
        from indexes.buckets import open_bucket
    except ImportError as error:
        raise ConfigError(
            f"is in object storage, whose driver is not installed; run: {install_line('s3')}",
            subject="--index",
        ) from error
    return cast("Path", open_bucket(index, patience=patience))


def bucket_of(path: Path) -> "BucketPath | None":
    """Return *path* as what it is in a bucket; None: it is on a disk."""
    return None if isinstance(path, Path) else cast("BucketPath", path)


def is_in_bucket(path: Path) -> bool:
    """Whether a path of an index is in object storage."""
    return bucket_of(path) is not None


def write_durably(path: Path, data: str | bytes) -> None:
    """Replace a file by rename, so that it is whole before and after a power cut; makes its folder.

    An object is put, which is whole or not at all, too. Of several that write at once, the last one stays.
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
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


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
        bucket.remove_tree()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def make_folder(folder: Path) -> None:
    """Make a folder and those it is in; a bucket has none."""
    if not is_in_bucket(folder):
        folder.mkdir(parents=True, exist_ok=True)
