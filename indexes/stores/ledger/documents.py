"""Crawl state: what is known of every document of every source."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.changes import forget_former_texts
from indexes.stores.ledger.history import forget_history, record_changes, record_found
from indexes.stores.ledger.replaced import ask_for_sweep, note_documents, note_rows
from indexes.stores.ledger.tables import document, insert_new, upsert
from indexes.stores.ledger.tables import source as source_table
from schemas.dates import DateOrigin
from schemas.documents import ASLEEP, COMPARED, NOWHERE, READABLE, DocumentState, KnownDocument, Outcome
from schemas.history import FetchAttempt
from schemas.records import to_record

_IN_LIMIT = 500


_NEVER_FOUND = sa.and_(document.c.state.in_([*NOWHERE]), document.c.content_hash.is_(None))
_STATE = sa.case((_NEVER_FOUND, Outcome.DEAD_LINK.value), else_=document.c.state)


class Documents:
    """The `document` table, and the `history` of what is written there; *now* tells the time for it."""

    def __init__(self, engine: sa.Engine, *, now: Callable[[], str] | None = None) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)
        self._now = now

    def save(
        self, documents: Collection[KnownDocument], attempts: Mapping[str, FetchAttempt] | None = None
    ) -> None:
        """Write rows, replacing what was known of the same URIs, in one transaction.

        *attempts*, by URI, say which of the rows come of a look at the document, and what it cost.
        """
        with self._engine.begin() as connection:
            record_changes(connection, documents, attempts or {}, now=self._now and self._now())
            note_documents(connection, documents)
            upsert(connection, document, [to_record(known) for known in documents])

    def add_new(self, documents: Collection[KnownDocument]) -> None:
        """Write rows for URIs that are not known yet; known ones stay as they are."""
        with self._engine.begin() as connection:
            record_found(connection, documents, now=self._now and self._now())
            insert_new(connection, document, [to_record(known) for known in documents])

    def get(self, source: str, uris: Iterable[str]) -> Mapping[str, KnownDocument]:
        """What is known, by URI; unknown URIs are left out."""
        wanted = sorted(set(uris))
        found: dict[str, KnownDocument] = {}
        with self._reading.connect() as connection:
            for start in range(0, len(wanted), _IN_LIMIT):
                part = wanted[start : start + _IN_LIMIT]
                query = sa.select(document).where(document.c.source == source, document.c.uri.in_(part))
                found |= {row.uri: _known(row) for row in connection.execute(query)}
        return found

    def of_source(self, source: str) -> tuple[KnownDocument, ...]:
        """All documents of a source, ordered by URI."""
        return self._select(document.c.source == source)

    def unparsed(self, source: str, *, pipeline_versions: Collection[str]) -> tuple[KnownDocument, ...]:
        """Documents to read or compare whose stored bytes none of these pipeline versions has parsed.

        Also stubs that were fetched, and not yet led on from.
        """
        stale = sa.or_(
            document.c.parsed_sha.is_(None),
            document.c.parsed_sha != document.c.raw_sha,
            document.c.pipeline_version.not_in([*pipeline_versions]),
            sa.and_(document.c.refresh.is_not(None), document.c.state.in_([*READABLE])),
        )
        return self._select(
            document.c.source == source,
            document.c.raw_sha.is_not(None),
            document.c.state.in_([*COMPARED]),
            stale,
        )

    def denied(self, source: str, run_id: str) -> tuple[KnownDocument, ...]:
        """Documents of which this run got new bytes that their site had called unmodified, ordered by URI."""
        return self._select(
            document.c.source == source, document.c.run_id == run_id, document.c.denied.is_(True)
        )

    def count(self, source: str) -> int:
        """How many URIs of the source are known."""
        with self._reading.connect() as connection:
            query = sa.select(sa.func.count()).where(document.c.source == source)
            return int(connection.execute(query).scalar_one())

    def count_awake(self, source: str) -> int:
        """How many URIs of the source are neither gone nor out of scope: those that `max_pages` limits."""
        query = sa.select(sa.func.count()).where(document.c.source == source, document.c.state.notin_(ASLEEP))
        with self._reading.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def states(self) -> Mapping[str, Mapping[str, int]]:
        """Documents by source and state; what was never found is a dead link, in no state of a document."""
        found = sa.select(document.c.source, _STATE.label("standing")).subquery()
        by = (found.c.source, found.c.standing)
        query = sa.select(*by, sa.func.count()).group_by(*by)
        counts: dict[str, Counter[str]] = {}
        with self._reading.connect() as connection:
            for source, state, number in connection.execute(query):
                counts.setdefault(source, Counter())[state] = number
        return counts

    def looked_at(self) -> Mapping[str, str | None]:
        """By source, when a document of it was last looked at (ISO 8601, UTC)."""
        query = sa.select(document.c.source, sa.func.max(document.c.checked_at)).group_by(document.c.source)
        with self._reading.connect() as connection:
            return {source: checked_at for source, checked_at in connection.execute(query)}  # noqa: C416

    def in_states(self, states: Collection[DocumentState], *, limit: int) -> tuple[KnownDocument, ...]:
        """The first documents in one of these states, ordered by source and URI."""
        query = sa.select(document).where(_STATE.in_([*states]))
        ordered = query.order_by(document.c.source, document.c.uri).limit(limit)
        with self._reading.connect() as connection:
            return tuple(_known(row) for row in connection.execute(ordered))

    def remove(self, source: str, uris: Collection[str]) -> None:
        """Drop all that is known of some documents of a source, with what its passages said that are gone."""
        with self._engine.begin() as connection:
            forget_former_texts(connection, source)
            for start in range(0, len(uris), _IN_LIMIT):
                part = sorted(uris)[start : start + _IN_LIMIT]
                ours = sa.and_(document.c.source == source, document.c.uri.in_(part))
                note_rows(connection, ours)
                forget_history(connection, source, uris=part)
                connection.execute(sa.delete(document).where(ours))

    def forget_former_texts(self, source: str) -> None:
        """Drop what passages of a source said that are no more; that they went is still told."""
        with self._engine.begin() as connection:
            forget_former_texts(connection, source)

    def forget(self, source: str) -> None:
        """Drop all that is known of a source."""
        with self._engine.begin() as connection:
            forget_history(connection, source)
            forget_former_texts(connection, source)
            note_rows(connection, document.c.source == source)
            # What a crawl of it left that broke off nothing names, and no run of it will begin again.
            ask_for_sweep(connection)
            connection.execute(sa.delete(source_table).where(source_table.c.name == source))
            connection.execute(sa.delete(document).where(document.c.source == source))

    def _select(self, *conditions: sa.ColumnElement[bool]) -> tuple[KnownDocument, ...]:
        query = sa.select(document).where(*conditions).order_by(document.c.uri)
        with self._reading.connect() as connection:
            return tuple(_known(row) for row in connection.execute(query))


def _known(row: sa.Row[tuple[Any, ...]]) -> KnownDocument:
    # Columns are fields, and few of them are not stored as they are; a run reads every row several times.
    values = dict(row._mapping)
    values["state"] = DocumentState(values["state"])
    for name in ("fetched_origin", "stated_origin"):
        values[name] = DateOrigin(values[name]) if values[name] is not None else None
    return KnownDocument(**values)
