"""Addresses that lead elsewhere, as each generation follows them."""

from collections.abc import Mapping

import sqlalchemy as sa

from indexes.stores.ledger.revisions import revise, valid_at
from indexes.stores.ledger.tables import document, redirect_rev
from schemas.documents import READABLE, REMOVED, DocumentState

_LEADING = (DocumentState.REDIRECTED, DocumentState.DUPLICATE, DocumentState.GONE)
"""States in which a location says where the content is: of a gone document, where it was found again."""


class Redirects:
    """The `redirect_rev` table: one row for each address and stretch of generations.

    Kept beside the documents, since a redirect may change while no document does.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._reading = engine.execution_options(read_only=True)

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
        with self._reading.connect() as connection:
            kept = {row.uri: row.location for row in connection.execute(unconfirmed)}
            rows = connection.execute(led.order_by(document.c.source.desc()))
            return kept | {row.uri: row.location for row in rows}


def redirects_at(connection: sa.Connection, generation: int) -> dict[str, str]:
    """Location by address, as the generation contains them."""
    query = sa.select(redirect_rev).where(*valid_at(redirect_rev, generation))
    return {row.uri: row.location for row in connection.execute(query)}


def revise_redirects(connection: sa.Connection, number: int, redirects: Mapping[str, str]) -> None:
    """Let generation *number*, rebased already, contain exactly these."""
    before = redirects_at(connection, number)
    changed = {uri for uri in before.keys() | redirects.keys() if before.get(uri) != redirects.get(uri)}
    rows = [{"uri": uri, "location": redirects[uri]} for uri in sorted(changed & redirects.keys())]
    revise(connection, redirect_rev, number, changed=changed, rows=rows)
