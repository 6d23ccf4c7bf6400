"""A lock between processes of one machine, or of one shared folder, that the kernel frees with its holder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
