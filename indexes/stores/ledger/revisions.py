"""Rows that hold from one generation to another, and the redirects that each generation follows."""

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.retention import note_revisions
from indexes.stores.ledger.tables import OPEN, LedgerPart, doc_rev, document, redirect_rev, upsert
from schemas.batches import in_parts
from schemas.documents import READABLE, REMOVED, DocumentState

_REVISED = (doc_rev, redirect_rev)


def valid_at(table: sa.Table, generation: int) -> tuple[sa.ColumnElement[bool], ...]:
    """What is true of the rows that *generation* contains."""
    return (table.c.valid_from <= generation, table.c.valid_to > generation)


def revise_rows(
    connection: sa.Connection,
    table: sa.Table,
    number: int,
    *,
    changed: Collection[str],
    rows: Collection[Mapping[str, Any]],
) -> None:
    """Let the rows of the *changed* keys end with generation *number*, and *rows* begin with it."""
    key = next(iter(table.primary_key))
    for keys in in_parts(changed):
        part = key.in_(keys)
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


_LEADING = (DocumentState.REDIRECTED, DocumentState.DUPLICATE, DocumentState.GONE)
"""States in which a location says where the content is: of a gone document, where it was found again."""


class Redirects(LedgerPart):
    """The `redirect_rev` table: one row for each address and stretch of generations.

    Kept beside the documents, since a redirect may change while no document does.
    """

    def at(self, generation: int) -> Mapping[str, str]:
        """Where each address led when the generation was made."""
        with self._reading.connect() as connection:
            return redirects_at(connection, generation)

    def after(self, generation: int) -> Mapping[str, str]:
        """Where each address leads in the generation to come, over all sources; the first by name wins.

        An address that is unavailable at the moment (a timeout, an error, a first 404) leads where it led at
        *generation*: a bad day is evidence of nothing.
        """
        led = sa.select(document.c.uri, document.c.location).where(
            document.c.state.in_(_LEADING), document.c.location.is_not(None)
        )
        unconfirmed = (
            sa.select(redirect_rev.c.uri, redirect_rev.c.location)
            .join(document, document.c.uri == redirect_rev.c.uri)
            .where(document.c.state.not_in([*READABLE, *REMOVED]), *valid_at(redirect_rev, generation))
        )
        kept = {row.uri: row.location for row in self._rows(unconfirmed)}
        return kept | {row.uri: row.location for row in self._rows(led.order_by(document.c.source.desc()))}


def redirects_at(connection: sa.Connection, generation: int) -> dict[str, str]:
    """Location by address, as the generation contains them."""
    query = sa.select(redirect_rev).where(*valid_at(redirect_rev, generation))
    return {row.uri: row.location for row in connection.execute(query)}


def revise_redirects(connection: sa.Connection, number: int, redirects: Mapping[str, str]) -> None:
    """Let generation *number*, rebased already, contain exactly these."""
    before = redirects_at(connection, number)
    changed = {uri for uri in before.keys() | redirects.keys() if before.get(uri) != redirects.get(uri)}
    rows = [{"uri": uri, "location": redirects[uri]} for uri in sorted(changed & redirects.keys())]
    revise_rows(connection, redirect_rev, number, changed=changed, rows=rows)
