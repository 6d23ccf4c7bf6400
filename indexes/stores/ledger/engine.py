"""The ledger's database, SQLite or PostgreSQL: opening it, its errors in our words, vacuuming it."""

import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from indexes.places import file_bytes
from indexes.read_only import open_read_only
from indexes.stores.ledger.names import key_all_names
from indexes.stores.ledger.tables import (
    change,
    doc_rev,
    document,
    generation,
    metadata,
    name_key,
    origin,
    pages,
)
from schemas.errors import (
    WHAT_TO_DO,
    ConfigError,
    DamageFound,
    NoRoom,
    SchemaMismatch,
    SitegraphError,
    StoreUnavailable,
    why_no_room,
)
from schemas.settings import install_line

_NOT_A_DATABASE = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_READ_ONLY = "SQLITE_READONLY"
_INPUT_OUTPUT = "SQLITE_IOERR"
_TAKEN = ("23505", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE")
_NO_SUCH_TABLE_OR_COLUMN = ("42P01", "42703")
_NOT_ALLOWED = "42501"
_PAGES = 65_536
"""Bytes that an index of the WAL takes at least (SQLite, "WAL-mode File Format", 2)."""
_UNREACHABLE = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.InternalError)


def tell_failures_of(engine: sa.Engine) -> None:
    """Let every statement of the engine fail with an error of ours, where we can say what to do.

    What is left alone (a wrong type, a violated constraint) is a fault of the program.
    """
    subject = ledger_name(engine.url)

    @sa.event.listens_for(engine, "handle_error")
    def _on_error(context: sa.engine.ExceptionContext) -> SitegraphError | None:
        # A failed ping is how the pool learns that it has to connect again.
        if context.is_pre_ping or context.sqlalchemy_exception is None:
            return None
        error = context.sqlalchemy_exception
        if full := why_no_room(error) or _why_no_page(error, engine.url.database):
            return NoRoom(f"{full}. {WHAT_TO_DO}", subject=subject)
        return _failure(error, subject, connected=context.connection is not None)


def _why_no_page(error: sa.exc.StatementError, database: str | None) -> str | None:
    """SQLite gives no other reason than input and output where a page of its WAL finds no room."""
    code = getattr(error.orig, "sqlite_errorname", None) or ""
    if not code.startswith(_INPUT_OUTPUT) or not database:
        return None
    return "the disk is full" if _free_bytes(Path(database).parent) < _PAGES else None


def _free_bytes(folder: Path) -> int:
    try:
        held = os.statvfs(folder)
    except OSError:
        return _PAGES
    return held.f_bavail * held.f_frsize


def ledger_name(url: sa.URL) -> str:
    """Name the ledger without any secret."""
    return f"ledger {url.set(query={}).render_as_string(hide_password=True)}"


def _failure(error: sa.exc.StatementError, subject: str, *, connected: bool) -> SitegraphError | None:
    cause = driver_message(error.orig)
    code = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "sqlite_errorname", None) or ""
    if code.startswith(_NOT_A_DATABASE):
        return DamageFound(
            f"{cause}; put a good copy in its place, or delete the file: the next run makes it again",
            subject=subject,
        )
    if code.startswith(_READ_ONLY):
        return StoreUnavailable(
            f"{cause}; commands that change the index must be able to write to its folder",
            subject=subject,
        )
    if code in _NO_SUCH_TABLE_OR_COLUMN or cause.startswith("no such ") or " has no column " in cause:
        return SchemaMismatch(f"was made by another version ({cause}); build a new index", subject=subject)
    if code == _NOT_ALLOWED or (isinstance(error, sa.exc.ProgrammingError) and not connected):
        return ConfigError(f"{cause}; correct SITEGRAPH_LEDGER_URL or grant the right", subject=subject)
    if code.startswith(_INPUT_OUTPUT):
        return StoreUnavailable(
            f"{cause}; see whether its disk works and files may grow (ulimit -f), and try again",
            subject=subject,
        )
    if code in _TAKEN:
        return StoreUnavailable(f"another run wrote the same row ({cause}); try again", subject=subject)
    if isinstance(error, _UNREACHABLE):
        return StoreUnavailable(f"{cause}; check SITEGRAPH_LEDGER_URL and try again", subject=subject)
    return None


def driver_message(error: BaseException | None) -> str:
    """The first line of what a driver says; PostgreSQL adds hints and positions below it."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


_SUBJECT = "SITEGRAPH_LEDGER_URL"
_CONNECT_SECONDS = 10
_WAL_TRIES = 50
_UNFIT = re.compile("[\0\ud800-\udfff]")
_MAKING_TABLES = 0x51_7E_64_AF
"""Number of the advisory lock under which tables are made; any number nobody else uses will do."""


def open_engine(url: str, *, read_only: bool = False, tables: Sequence[sa.Table] | None = None) -> sa.Engine:
    """Connect to the ledger's database and make what tables and indexes are missing.

    With *tables*, those alone are made.
    A file of SQLite that may not be written is opened for reading: what writes then raises StoreUnavailable.
    So is any database with *read_only*; no tables are made then, and no reader waits for a writer.

    Raises: StoreUnavailable: nothing answers at the URL; ConfigError: it is no URL of SQLite or PostgreSQL;
    DamageFound: the file is no database.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite" and (
        reading := open_read_only(Path(parsed.database or ""), always=read_only)
    ):
        tell_failures_of(reading)
        _bind_what_fits(reading)
        _begin_sqlite(reading)
        return reading
    engine = _create_engine(parsed, read_only=read_only)
    tell_failures_of(engine)
    _bind_what_fits(engine)
    if engine.dialect.name == "sqlite":
        _prepare_sqlite(engine)
    if read_only:
        return engine
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # Two runs that start together would both find a table missing.
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MAKING_TABLES)))
        _make_what_is_missing(connection, tables)
    return engine


def _make_what_is_missing(connection: sa.Connection, tables: Sequence[sa.Table] | None) -> None:
    """Make missing tables and indexes; asks for all names at once, 4 statements in PostgreSQL and not 74."""
    inspector = sa.inspect(connection)
    held = set(inspector.get_table_names())
    wanted = metadata.sorted_tables if tables is None else tables
    metadata.create_all(connection, tables=[table for table in wanted if table.name not in held])
    if tables is not None:
        return
    if held and name_key.name not in held:
        key_all_names(connection)
    # These are older than some of their indexes; a table that was made now has its own.
    older = [table for table in (change, document, origin, pages, doc_rev) if table.name in held]
    found = inspector.get_multi_indexes(filter_names=[table.name for table in older])
    known = {(table, index["name"]) for (_, table), indexes in found.items() for index in indexes}
    for index in (one for table in older for one in table.indexes if (table.name, one.name) not in known):
        index.create(connection, checkfirst=True)


def has_tables(engine: sa.Engine) -> bool:
    """Whether a ledger has been made in the database, by this version or another."""
    return sa.inspect(engine).has_table(generation.name)


def parse_url(url: str) -> sa.URL:
    """Read the URL of a ledger. Raises: ConfigError: it is none of SQLite or PostgreSQL."""
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (sa.exc.ArgumentError, ValueError) as error:
        raise _unusable() from error
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return parsed.set(drivername="sqlite")
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    raise _unusable()


def _create_engine(url: sa.URL, *, read_only: bool) -> sa.Engine:
    if url.get_backend_name() == "sqlite":
        return sa.create_engine(url)
    timeout = {} if "connect_timeout" in url.query else {"connect_timeout": _CONNECT_SECONDS}
    try:
        options = {"postgresql_readonly": True} if read_only else {}
        return sa.create_engine(url, pool_pre_ping=True, connect_args=timeout, execution_options=options)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"names PostgreSQL, whose driver is not installed; run: {install_line('postgres')}",
            subject=_SUBJECT,
        ) from error


def _bind_what_fits(engine: sa.Engine) -> None:
    """Have every value that is stored or asked for be one that both databases can hold."""

    @sa.event.listens_for(engine, "before_cursor_execute", retval=True)
    def _on_execute(
        _connection: sa.Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool
    ) -> tuple[str, Any]:
        return statement, _fitting(parameters)


def _fitting(value: Any) -> Any:
    """Put U+FFFD for NUL, which PostgreSQL refuses, and for half a surrogate pair, which neither takes."""
    if isinstance(value, str):
        return value if value.isprintable() else _UNFIT.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _fitting(one) for name, one in value.items()}
    return type(value)(map(_fitting, value)) if isinstance(value, list | tuple) else value


def _prepare_sqlite(engine: sa.Engine) -> None:
    @sa.event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA busy_timeout=15000")
        _use_wal(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    _begin_sqlite(engine)


def _begin_sqlite(engine: sa.Engine) -> None:
    # A deferred transaction that reads before it writes fails at once when another writer came between.
    @sa.event.listens_for(engine, "begin")
    def _on_begin(connection: sa.Connection) -> None:
        writes = not connection.get_execution_options().get("read_only")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL, which does not wait where several open a new file at once: it fails at once."""
    for _ in range(_WAL_TRIES):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            # This does wait for the others, and fails where the reason is another one.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    connection.execute("PRAGMA journal_mode=WAL")


def _unusable() -> ConfigError:
    return ConfigError(
        # A whole URL of PostgreSQL would be told with its user and password hidden, as any that is told.
        "is not a URL of SQLite or PostgreSQL; use sqlite:///PATH, or postgresql://HOST/DATABASE with "
        "USER:PASSWORD@ before HOST where needed, special characters as %XX",
        subject=_SUBJECT,
    )


def ask_database(url: str) -> None:
    """Connect to a database and let go of it; makes nothing.

    Raises: StoreUnavailable: nothing answers at the URL; ConfigError: it is no URL of SQLite or PostgreSQL.
    """
    engine = _create_engine(parse_url(url), read_only=True)
    tell_failures_of(engine)
    try:
        with engine.connect() as connection:
            connection.execute(sa.select(1))
    finally:
        engine.dispose()


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
