"""Crawl state of every document of every source, and documents found by whatever somebody has of them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.generations import GenerationState
from indexes.stores.ledger.history import forget_former_texts, forget_history, record_changes, record_found
from indexes.stores.ledger.retention import ask_for_sweep, note_documents, note_rows
from indexes.stores.ledger.tables import (
    LedgerPart,
    doc_rev,
    document,
    generation,
    insert_new,
    listed,
    said_translation,
    said_use,
    upsert,
)
from indexes.stores.ledger.tables import source as source_table
from schemas.batches import in_parts
from schemas.documents import (
    ASLEEP,
    COMPARED,
    NOWHERE,
    READABLE,
    DocumentState,
    FetchAttempt,
    KnownDocument,
    Outcome,
)
from schemas.nodes import DateOrigin
from schemas.records import from_record, to_record

_NEVER_FOUND = sa.and_(document.c.state.in_([*NOWHERE]), document.c.content_hash.is_(None))
_STATE = sa.case((_NEVER_FOUND, Outcome.DEAD_LINK.value), else_=document.c.state)


class Documents(LedgerPart):
    """The `document` table, and the `history` of what is written there; *now* tells the time for it."""

    def __init__(self, engine: sa.Engine, *, now: Callable[[], str] | None = None) -> None:
        super().__init__(engine)
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
        query = sa.select(document).where(document.c.source == source)
        return {row.uri: _known(row) for row in self._among(query, document.c.uri, uris)}

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
        return self._count(document.c.source == source)

    def count_awake(self, source: str) -> int:
        """How many URIs of the source are neither gone nor out of scope: those that `max_pages` limits."""
        return self._count(document.c.source == source, document.c.state.notin_(ASLEEP))

    def states(self) -> Mapping[str, Mapping[str, int]]:
        """Documents by source and state; what was never found is a dead link, in no state of a document."""
        found = sa.select(document.c.source, _STATE.label("standing")).subquery()
        by = (found.c.source, found.c.standing)
        query = sa.select(*by, sa.func.count()).group_by(*by)
        counts: dict[str, Counter[str]] = {}
        for source, state, number in self._rows(query):
            counts.setdefault(source, Counter())[state] = number
        return counts

    def looked_at(self) -> Mapping[str, str | None]:
        """By source, when a document of it was last looked at (ISO 8601, UTC)."""
        last = sa.func.max(document.c.checked_at).label("last")
        query = sa.select(document.c.source, last).group_by(document.c.source)
        return {row.source: row.last for row in self._rows(query)}

    def in_states(self, states: Collection[DocumentState], *, limit: int) -> tuple[KnownDocument, ...]:
        """The first documents in one of these states, ordered by source and URI."""
        query = sa.select(document).where(_STATE.in_([*states]))
        ordered = query.order_by(document.c.source, document.c.uri).limit(limit)
        return tuple(_known(row) for row in self._rows(ordered))

    def remove(self, source: str, uris: Collection[str]) -> None:
        """Drop all that is known of some documents of a source, with what its passages said that are gone."""
        with self._engine.begin() as connection:
            forget_former_texts(connection, source)
            for part in in_parts(uris):
                ours = sa.and_(document.c.source == source, document.c.uri.in_(part))
                note_rows(connection, ours)
                forget_history(connection, source, uris=part)
                connection.execute(sa.delete(document).where(ours))
                for said in (said_use, said_translation):
                    told = sa.and_(said.c.source == source, said.c.uri.in_(part))
                    connection.execute(sa.delete(said).where(told))

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
            for table in (said_use, said_translation, listed, document):
                connection.execute(sa.delete(table).where(table.c.source == source))

    def _select(self, *conditions: sa.ColumnElement[bool]) -> tuple[KnownDocument, ...]:
        query = sa.select(document).where(*conditions).order_by(document.c.uri)
        return tuple(_known(row) for row in self._rows(query))


def _known(row: sa.Row[tuple[Any, ...]]) -> KnownDocument:
    # Columns are fields, and few of them are not stored as they are; a run reads every row several times.
    values = dict(row._mapping)
    values["state"] = DocumentState(values["state"])
    for name in ("fetched_origin", "stated_origin"):
        values[name] = DateOrigin(values[name]) if values[name] is not None else None
    return KnownDocument(**values)


_LAST = "\U0010ffff"


class Lookup(LedgerPart):
    """Questions of people about single documents, over all sources; each reads the whole table once."""

    def by_uris(self, uris: Iterable[str]) -> tuple[KnownDocument, ...]:
        """Documents of any of the addresses, ordered by source and URI."""
        return self._documents(document.c.uri.in_(sorted(set(uris))))

    def by_doc(self, doc: str) -> tuple[KnownDocument, ...]:
        """Documents of a node id, ordered by source and URI."""
        return self._documents(document.c.doc == doc)

    def by_doc_id(self, doc_id: str) -> tuple[KnownDocument, ...]:
        """Documents of an id of their own (`GOV-0017`; case of ASCII letters folded)."""
        # Not by the database: a server has a language for letters that stand in no column (tables.py).
        folded = doc_id.encode("utf-8", "replace").lower().decode()
        return self._documents(sa.func.lower(document.c.doc_id) == folded)

    def ending_with(self, path: str, *, limit: int) -> tuple[KnownDocument, ...]:
        """The first documents whose address ends with */path*, ordered by source and URI."""
        # Not by LIKE, for which SQLite folds case.
        tail = f"/{path}"
        start = sa.func.length(document.c.uri) - len(tail) + 1
        return self._documents(sa.func.substr(document.c.uri, start) == tail, limit=limit)

    def leading_to(self, uri: str) -> tuple[KnownDocument, ...]:
        """Documents whose address leads to this one: redirects, and equals that it stands for."""
        return self._documents(document.c.location == uri)

    def uris_below(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """The first addresses that begin with *prefix*, in order."""
        query = sa.select(document.c.uri).where(document.c.uri >= prefix, document.c.uri < prefix + _LAST)
        return tuple(self._values(query.order_by(document.c.uri).limit(limit)))

    def doc_ids(self, *, limit: int) -> tuple[str, ...]:
        """The first ids that documents have of their own, in order."""
        query = sa.select(document.c.doc_id).distinct().where(document.c.doc_id.is_not(None))
        return tuple(self._values(query.order_by(document.c.doc_id).limit(limit)))

    def published_in(self, doc: str) -> tuple[int, ...]:
        """Published generations that contain the document, oldest first, as far back as the ledger goes."""
        number = generation.c.generation
        held = sa.and_(doc_rev.c.valid_from <= number, doc_rev.c.valid_to > number)
        query = (
            sa.select(number)
            .join(doc_rev, held)
            .where(doc_rev.c.doc == doc, generation.c.state == GenerationState.PUBLISHED.value)
            .order_by(number)
        )
        return tuple(self._values(query))

    def _documents(
        self, condition: sa.ColumnElement[bool], *, limit: int | None = None
    ) -> tuple[KnownDocument, ...]:
        query = sa.select(document).where(condition).order_by(document.c.source, document.c.uri).limit(limit)
        return tuple(from_record(KnownDocument, dict(row._mapping)) for row in self._rows(query))
