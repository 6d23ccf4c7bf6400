"""What a database says when something is wrong, in the words of schemas/errors.py.

One listener on the engine does it for every statement, so that no method of the ledger needs a `try`.
"""

import os
from pathlib import Path

import sqlalchemy as sa

from schemas.errors import (
    ConfigError,
    DamageFound,
    NoRoom,
    SchemaMismatch,
    SitegraphError,
    StoreUnavailable,
)
from schemas.no_room import WHAT_TO_DO, why_no_room

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
    cause = first_line(error.orig)
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


def first_line(error: BaseException | None) -> str:
    """The first line of what a driver says; PostgreSQL adds hints and positions below it."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
