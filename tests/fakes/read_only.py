"""A folder that may be looked into and not written to, also where the tests are run by root."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NOBODY = 65534


@contextmanager
def only_readable(folder: Path) -> Iterator[None]:
    """Take the right to write from a folder and all in it, as somebody other than root where we are root."""
    root = os.geteuid() == 0
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in folder.parents if root else ():
        if parent.stat().st_uid == 0 and parent.is_relative_to("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o011)
    os.seteuid(_NOBODY) if root else None
    try:
        yield
    finally:
        os.seteuid(0) if root else None
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
