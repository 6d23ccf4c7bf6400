"""What happened to each document: an append-only log, bounded, whose repetitions are counted."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa

from indexes.stores.ledger.tables import history, insert_new
from schemas.documents import DocumentState, KnownDocument
from schemas.history import FetchAttempt, HistoryEntry, HistoryEvent
from schemas.records import from_record, to_record

KEEP = 20
"""Entries kept of a document besides the one that says how it was found."""

_IN_LIMIT = 500


class History:
    """Reads the `history` table; `Documents` writes it, in the transaction that changes the document."""

    def __init__(self, engine: sa.Engine) -> None:
        self._reading = engine.execution_options(read_only=True)

    def of_document(self, source: str, uri: str) -> tuple[HistoryEntry, ...]:
        """What is remembered of a document, oldest first."""
        query = sa.select(history).where(history.c.source == source, history.c.uri == uri)
        with self._reading.connect() as connection:
            return tuple(_entry(row) for row in connection.execute(query.order_by(history.c.seq)))


def record_found(connection: sa.Connection, documents: Collection[KnownDocument], *, now: str | None) -> None:
    """Remember when documents became known; of one that is known already nothing is written."""
    found = [
        HistoryEntry(
            source=known.source,
            uri=known.uri,
            seq=0,
            event=HistoryEvent.FOUND,
            to_state=known.state,
            at=now,
            until=now,
        )
        for known in documents
    ]
    insert_new(connection, history, [to_record(entry) for entry in found])


def record_changes(
    connection: sa.Connection,
    documents: Collection[KnownDocument],
    attempts: Mapping[str, FetchAttempt],
    *,
    now: str | None,
) -> None:
    """Remember what is new in documents that are about to be saved; *attempts* are by URI."""
    stored = _last_entries(connection, documents)
    entries = [
        (entry, stored.get((known.source, known.uri)))
        for known in documents
        for entry in _entries(known, stored.get((known.source, known.uri)), attempts.get(known.uri), now=now)
    ]
    _prolong(connection, [entry for entry, last in entries if last is not None and entry.seq == last.seq])
    _append(connection, [entry for entry, last in entries if last is None or entry.seq != last.seq])


def _entries(
    known: KnownDocument, last: HistoryEntry | None, look: FetchAttempt | None, *, now: str | None
) -> Iterable[HistoryEntry]:
    """The entries that a row calls for, one of them for each attempt of the look."""
    found: dict[int, HistoryEntry] = {}
    for attempt in (*look.earlier, look) if look is not None else (None,):
        entry = next_entry(_seen_by(known, attempt), last, attempt, now=now)
        if entry is not None:
            last = found[entry.seq] = entry
    return found.values()


def _seen_by(known: KnownDocument, attempt: FetchAttempt | None) -> KnownDocument:
    """The row as one attempt of several would have left it."""
    if attempt is None:
        return known
    return replace(
        known,
        state=attempt.state or known.state,
        http_status=attempt.http_status or known.http_status,
        raw_sha=attempt.raw_sha or known.raw_sha,
        reason=known.reason if attempt.reason is None else attempt.reason,
    )


def next_entry(
    known: KnownDocument, last: HistoryEntry | None, look: FetchAttempt | None, *, now: str | None
) -> HistoryEntry | None:
    """Return the entry that a document's new row calls for: None, the last one more times, or one more.

    A look like the one before is counted, so that years of 304 neither fill the log nor push out what
    is worth knowing.
    """
    if look is not None and last is not None and _repeats(known, look, last):
        return replace(
            last, until=known.checked_at, times=last.times + 1, run_id=known.run_id, bytes=look.bytes
        )
    event = _event(known, last, look)
    if event is None:
        return None
    at = known.checked_at if look else now or known.checked_at
    return HistoryEntry(
        source=known.source,
        uri=known.uri,
        seq=last.seq + 1 if last else 1,
        event=event,
        from_state=last.to_state if last else None,
        to_state=known.state,
        at=at,
        until=at,
        run_id=known.run_id,
        http_status=known.http_status if look else None,
        # A document that is to be looked at again still carries the reason of its last state.
        reason="" if known.state is DocumentState.NEW else known.reason,
        location=known.location,
        conditional=look.conditional if look else None,
        bytes=look.bytes if look else None,
        raw_sha=known.raw_sha,
        content_hash=known.content_hash,
    )


def forget_history(connection: sa.Connection, source: str, *, uris: Collection[str] | None = None) -> None:
    """Drop all that is remembered of a source, or of some of its documents."""
    gone = sa.delete(history).where(history.c.source == source)
    connection.execute(gone if uris is None else gone.where(history.c.uri.in_(uris)))


def _event(known: KnownDocument, last: HistoryEntry | None, look: FetchAttempt | None) -> HistoryEvent | None:
    if look is not None:
        return HistoryEvent.LOOKED
    if last is None or known.state is not last.to_state:
        return HistoryEvent.STATE
    return HistoryEvent.PARSED if known.content_hash != last.content_hash else None


def _repeats(known: KnownDocument, look: FetchAttempt, last: HistoryEntry) -> bool:
    """Whether the same was seen again: only the time, the run and the bytes on the wire may differ."""
    return (
        last.event is HistoryEvent.LOOKED
        and last.to_state is known.state
        and last.http_status == known.http_status
        and last.reason == known.reason
        and last.location == known.location
        and last.conditional == look.conditional
        and last.raw_sha == known.raw_sha
        and last.content_hash == known.content_hash
    )


def _last_entries(
    connection: sa.Connection, documents: Iterable[KnownDocument]
) -> dict[tuple[str, str], HistoryEntry]:
    by_source: dict[str, list[str]] = {}
    for known in documents:
        by_source.setdefault(known.source, []).append(known.uri)
    return {
        (entry.source, entry.uri): entry
        for source, uris in by_source.items()
        for start in range(0, len(uris), _IN_LIMIT)
        for entry in _last_of(connection, source, uris[start : start + _IN_LIMIT])
    }


def _last_of(connection: sa.Connection, source: str, uris: Sequence[str]) -> list[HistoryEntry]:
    # A join with the highest numbers is shorter, and PostgreSQL reads the table once for each row of it.
    newest = sa.func.row_number().over(partition_by=history.c.uri, order_by=history.c.seq.desc())
    theirs = (history.c.source == source, history.c.uri.in_(uris))
    numbered = sa.select(history, newest.label("place")).where(*theirs).subquery()
    columns = [numbered.c[column.name] for column in history.columns]
    rows = connection.execute(sa.select(*columns).where(numbered.c.place == 1))
    return [_entry(row) for row in rows]


def _prolong(connection: sa.Connection, entries: Sequence[HistoryEntry]) -> None:
    if not entries:
        return
    statement = (
        sa.update(history)
        .where(
            history.c.source == sa.bindparam("of_source"),
            history.c.uri == sa.bindparam("of_uri"),
            history.c.seq == sa.bindparam("of_seq"),
        )
        .values({name: sa.bindparam(f"new_{name}") for name in ("until", "times", "run_id", "bytes")})
    )
    rows = [
        {
            "of_source": entry.source,
            "of_uri": entry.uri,
            "of_seq": entry.seq,
            "new_until": entry.until,
            "new_times": entry.times,
            "new_run_id": entry.run_id,
            "new_bytes": entry.bytes,
        }
        for entry in sorted(entries, key=lambda entry: (entry.source, entry.uri))
    ]
    connection.execute(statement, rows)


def _append(connection: sa.Connection, entries: Sequence[HistoryEntry]) -> None:
    insert_new(connection, history, [to_record(entry) for entry in entries])
    old = [
        {"of_source": entry.source, "of_uri": entry.uri, "last": entry.seq - KEEP}
        for entry in entries
        if entry.seq > KEEP
    ]
    if old:
        statement = sa.delete(history).where(
            history.c.source == sa.bindparam("of_source"),
            history.c.uri == sa.bindparam("of_uri"),
            history.c.seq.between(1, sa.bindparam("last")),
        )
        connection.execute(statement, old)


def _entry(row: sa.Row[tuple[object, ...]]) -> HistoryEntry:
    return from_record(HistoryEntry, dict(row._mapping))
