"""Rows that hold from one generation to another, so that every kept generation is known as it was."""

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.replaced import note_revisions
from indexes.stores.ledger.tables import OPEN, doc_rev, redirect_rev, upsert

_IN_LIMIT = 500
_REVISED = (doc_rev, redirect_rev)


def valid_at(table: sa.Table, generation: int) -> tuple[sa.ColumnElement[bool], ...]:
    """What is true of the rows that *generation* contains."""
    return (table.c.valid_from <= generation, table.c.valid_to > generation)


def revise(
    connection: sa.Connection,
    table: sa.Table,
    number: int,
    *,
    changed: Collection[str],
    rows: Collection[Mapping[str, Any]],
) -> None:
    """Let the rows of the *changed* keys end with generation *number*, and *rows* begin with it."""
    key = next(iter(table.primary_key))
    ordered = sorted(changed)
    for start in range(0, len(ordered), _IN_LIMIT):
        part = key.in_(ordered[start : start + _IN_LIMIT])
        # A row that `rebase` reopened, of a key that changes as well.
        connection.execute(sa.delete(table).where(part, table.c.valid_from == number))
        still_open = (part, table.c.valid_from < number, table.c.valid_to > number)
        connection.execute(sa.update(table).where(*still_open).values(valid_to=number))
    upsert(connection, table, [{**row, "valid_from": number, "valid_to": OPEN} for row in rows])


def rebase(connection: sa.Connection, number: int, *, base: int) -> None:
    """Make the rows valid at *number* equal to those of *base*.

    After a rollback, rows of the rolled-back generations are still open and the ones they replaced
    are closed; without this the next generation would inherit what was rolled back.
    """
    for table in _REVISED:
        since = (table.c.valid_from > base, table.c.valid_from < number, table.c.valid_to > number)
        connection.execute(sa.update(table).where(*since).values(valid_to=number))
        closed_since = (*valid_at(table, base), table.c.valid_to < OPEN)
        rows = connection.execute(sa.select(table).where(*closed_since)).all()
        reopened = [{**row._mapping, "valid_from": number, "valid_to": OPEN} for row in rows]
        upsert(connection, table, reopened)


def take_back(connection: sa.Connection, number: int) -> None:
    """Undo what `rebase` and `revise` did for *number*."""
    _note(connection, doc_rev.c.valid_from == number)
    for table in _REVISED:
        connection.execute(sa.delete(table).where(table.c.valid_from == number))
        connection.execute(sa.update(table).where(table.c.valid_to == number).values(valid_to=OPEN))


def forget_before(connection: sa.Connection, oldest_kept: int) -> None:
    """Drop rows that only generations before *oldest_kept* contain."""
    _note(connection, doc_rev.c.valid_to <= oldest_kept)
    for table in _REVISED:
        connection.execute(sa.delete(table).where(table.c.valid_to <= oldest_kept))


def _note(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Remember the files of documents' rows that go."""
    query = sa.select(doc_rev.c.doc, doc_rev.c.fragment_sha).where(condition)
    note_revisions(connection, connection.execute(query).all())
