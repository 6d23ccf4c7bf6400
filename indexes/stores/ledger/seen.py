"""What a run looked at, without whole rows: for its report, and for when to look again."""

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.tables import document
from schemas.documents import REMOVED, DocumentState
from schemas.report import SecretCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDocument:
    """A document that a run looked at; the fields are those of `KnownDocument`."""

    uri: str
    state: DocumentState
    doc: str | None = None
    reason: str = ""
    location: str | None = None
    failures: int = 0
    missed_at: str | None = None
    interval: float | None = None
    next_due: str | None = None
    checked_at: str | None = None
    lastmod: str | None = None
    lastmod_then: str | None = None
    lastmod_held: bool | None = None


_COLUMNS = tuple(document.c[name] for name in SeenDocument.__slots__)
_RESCHEDULED = ("interval", "next_due", "lastmod_then", "lastmod_held")


class SeenDocuments:
    """The `document` table as a run sees it that comes to its end."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def of_run(self, source: str, run_id: str) -> tuple[SeenDocument, ...]:
        """Documents that the run looked at, ordered by URI."""
        mine = (document.c.source == source, document.c.run_id == run_id)
        query = sa.select(*_COLUMNS).where(*mine).order_by(document.c.uri)
        with self._reading.connect() as connection:
            return tuple(_seen(row) for row in connection.execute(query))

    def missing(self, source: str) -> tuple[str, ...]:
        """Addresses of the source that answered 404 when they were last looked at, in order."""
        is_missing = (document.c.source == source, document.c.state == DocumentState.MISSING)
        query = sa.select(document.c.uri).where(*is_missing).order_by(document.c.uri)
        with self._reading.connect() as connection:
            return tuple(connection.execute(query).scalars())

    def secrets(self, source: str) -> SecretCounts:
        """Count secrets and the documents with any, of those that have not left the source."""
        mine = (document.c.source == source, document.c.secrets > 0, document.c.state.not_in([*REMOVED]))
        counts = sa.func.coalesce(sa.func.sum(document.c.secrets), 0), sa.func.count()
        with self._reading.connect() as connection:
            values, documents = connection.execute(sa.select(*counts).where(*mine)).one()
        return SecretCounts(values=int(values), documents=int(documents))

    def reschedule(self, source: str, seen: Collection[SeenDocument]) -> None:
        """Write interval, next due time and what claims were worth; nothing else of the rows changes."""
        statement = (
            sa.update(document)
            .where(document.c.source == source, document.c.uri == sa.bindparam("of_uri"))
            .values({name: sa.bindparam(f"new_{name}") for name in _RESCHEDULED})
        )
        rows = [
            {"of_uri": one.uri, **{f"new_{name}": getattr(one, name) for name in _RESCHEDULED}}
            for one in sorted(seen, key=lambda one: one.uri)
        ]
        if rows:
            with self._engine.begin() as connection:
                connection.execute(statement, rows)


def _seen(row: sa.Row[tuple[object, ...]]) -> SeenDocument:
    values = dict(row._mapping)
    return SeenDocument(**{**values, "state": DocumentState(values["state"])})
