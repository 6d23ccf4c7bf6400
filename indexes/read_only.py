"""SQLite files that are read and not written: by those who only look, on read-only media, by another user."""

import os
import sqlite3
from pathlib import Path

import sqlalchemy as sa


def open_read_only(file: Path, *, always: bool = False) -> sa.Engine | None:
    """Open a file that may only be read; None for one that may be written, or is not there yet.

    With *always* it is opened for reading also if it may be written, and an error if it is not there.
    Transactions wait for no writer, and what writes is refused.
    """
    # In this order: of several that make a file at once, each finds it missing, or made and to be written.
    if not always and (not file.exists() or _is_writable(file, file.parent)):
        return None
    return sa.create_engine(
        sa.URL.create("sqlite", database=str(file)),
        creator=lambda: _connect(file),
        # One that was told that nobody writes must not outlive a transaction: somebody else may.
        poolclass=None if _is_writable(file.parent) else sa.NullPool,
        execution_options={"read_only": True},
    )


def _connect(file: Path) -> sqlite3.Connection:
    uri = f"{file.absolute().as_uri()}?{_mode(file)}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA query_only=ON")
    return connection


def _mode(file: Path) -> str:
    """Return how a file is opened; in WAL mode SQLite keeps two files beside it even to read.

    Only who may write takes these two away again. Where they cannot be made, SQLite reads those that are
    there, or must be told that nobody writes; a log that is there would go unread then.
    Source: sqlite.org/wal.html, "Read-Only Databases"; sqlite.org/uri.html, "immutable".
    """
    if _is_writable(file.parent):
        return "mode=rw"
    return "mode=ro" if file.with_name(f"{file.name}-wal").exists() else "mode=ro&immutable=1"


def _is_writable(*paths: Path) -> bool:
    return all(os.access(path, os.W_OK, effective_ids=True) for path in paths)
