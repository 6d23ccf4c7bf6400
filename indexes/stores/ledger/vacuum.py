"""Giving back the room of deleted rows, and counting rows anew for the planner of queries."""

import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from indexes.disk_use import file_bytes
from indexes.stores.ledger.failures import ledger_name
from indexes.stores.ledger.tables import metadata
from schemas.errors import StoreUnavailable

_BUSY = 5_000
"""Milliseconds that VACUUM waits for others; whoever is at work would wait for it, too."""


def vacuum(engine: sa.Engine) -> None:
    """Vacuum and analyse the ledger; of PostgreSQL its own tables, where the user may.

    Nobody can write meanwhile to a ledger in SQLite, which needs as much room on the disk again.
    Raises: StoreUnavailable: somebody else is at work in it.
    """
    if engine.dialect.name == "sqlite":
        _vacuum_sqlite(engine)
        return
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for name in sorted(metadata.tables):
            connection.exec_driver_sql(f'VACUUM (ANALYZE) "{name}"')


def bytes_of(engine: sa.Engine) -> int:
    """Bytes that the ledger takes on the disk, of SQLite with its WAL."""
    if engine.dialect.name == "sqlite":
        path = Path(engine.url.database or "")
        return sum(map(file_bytes, path.parent.glob(f"{path.name}*")))
    names = [f"'\"{name}\"'::regclass" for name in sorted(metadata.tables)]
    query = " + ".join(f"pg_total_relation_size({name})" for name in names)
    with engine.execution_options(read_only=True).connect() as connection:
        return int(connection.exec_driver_sql(f"SELECT {query}").scalar_one())


def _vacuum_sqlite(engine: sa.Engine) -> None:
    engine.dispose()  # of this process: a connection that reads would stop it
    with closing(sqlite3.connect(engine.url.database or "", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA busy_timeout={_BUSY}")
        try:
            connection.execute("VACUUM")
            connection.execute("ANALYZE")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError as error:
            raise StoreUnavailable(f"is in use ({error})", subject=ledger_name(engine.url)) from error
