"""SQLite files that may be read and not written: a copy on read-only media, another user's index."""

import os
import sqlite3
from pathlib import Path

import sqlalchemy as sa


def open_read_only(file: Path, *, always: bool = False) -> sa.Engine | None:
    """Open a file that may only be read; None for one that may be written, or is not there yet.

    With *always* it is opened for reading also if it may be written, and an error if it is not there.
    In WAL mode SQLite keeps two files beside it even to read. Where it cannot make them it reads those
    that are there, or must be told that nobody writes; a log that is there would go unread then.
    Source: sqlite.org/wal.html, "Read-Only Databases".
    """
    writable = all(os.access(path, os.W_OK, effective_ids=True) for path in (file, file.parent))
    if not always and (writable or not file.exists()):
        return None
    log = file.with_name(f"{file.name}-wal")
    # Without a log nobody writes to it, and a reader that looked for one would leave an empty one behind.
    uri = f"{file.absolute().as_uri()}?mode=ro{'' if log.exists() else '&immutable=1'}"
    return sa.create_engine(
        sa.URL.create("sqlite", database=str(file)),
        creator=lambda: sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False),
    )
