"""What the ledger knows of how an index is: counts and times by source, no rows."""

from collections import defaultdict
from collections.abc import Mapping

import sqlalchemy as sa

from indexes.stores.ledger.frontier import is_due
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import doc_rev, document, history
from schemas.documents import ASLEEP, READABLE, DocumentState

_SECONDS = len("2026-01-05T00:00:00")
"""Length of a time in the ledger up to its seconds; whatever follows says UTC."""


class LedgerHealth:
    """Questions of those who watch an index; each is one statement."""

    def __init__(self, engine: sa.Engine) -> None:
        self._reading = engine.execution_options(read_only=True)

    def confirmed(self, generation: int) -> Mapping[str, tuple[tuple[str, int], ...]]:
        """When what *generation* contains was last confirmed by its source: time and documents, oldest first.

        Confirmed is what the source gave again, or called unmodified; a look that failed confirms nothing,
        nor does one that brought other content, which a run may have been refused to publish. Documents that
        no look has a time of are left out.
        """
        same = sa.and_(document.c.state.in_([*READABLE]), document.c.content_hash == doc_rev.c.content_hash)
        at = sa.func.coalesce(sa.case((same, document.c.checked_at)), _seen_last(), doc_rev.c.fetched_at)
        second = sa.func.substr(at, 1, _SECONDS).label("second")
        known = sa.and_(document.c.source == doc_rev.c.source, document.c.uri == doc_rev.c.uri)
        query = (
            sa.select(doc_rev.c.source, second, sa.func.count())
            .select_from(doc_rev.outerjoin(document, known))
            .where(*valid_at(doc_rev, generation), at.is_not(None))
            .group_by(doc_rev.c.source, second)
            .order_by(doc_rev.c.source, second)
        )
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        with self._reading.connect() as connection:
            for source, time, documents in connection.execute(query):
                found[source].append((f"{time}+00:00", documents))
        return {source: tuple(rows) for source, rows in found.items()}

    def due(self, now: str) -> Mapping[str, int]:
        """Documents that `run --due` would look at, by source."""
        query = (
            sa.select(document.c.source, sa.func.count().label("number"))
            .where(document.c.state.notin_([*ASLEEP]), is_due(now))
            .group_by(document.c.source)
        )
        with self._reading.connect() as connection:
            return {row.source: row.number for row in connection.execute(query)}

    def failed(self) -> Mapping[str, Mapping[int | None, int]]:
        """Failed documents by source and HTTP status, None where nothing answered."""
        query = (
            sa.select(document.c.source, document.c.http_status, sa.func.count())
            .where(document.c.state == DocumentState.FAILED)
            .group_by(document.c.source, document.c.http_status)
        )
        found: dict[str, dict[int | None, int]] = defaultdict(dict)
        with self._reading.connect() as connection:
            for source, status, number in connection.execute(query):
                found[source][status] = number
        return found


def _seen_last() -> sa.ScalarSelect[str | None]:
    """When what readers see was last seen, of a document that has another state or content now."""
    return (
        sa.select(sa.func.max(history.c.until))
        .where(
            history.c.source == doc_rev.c.source,
            history.c.uri == doc_rev.c.uri,
            history.c.content_hash == doc_rev.c.content_hash,
            history.c.to_state.in_([*READABLE]),
        )
        .scalar_subquery()
    )
