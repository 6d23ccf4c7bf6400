"""What happened to each document: an append-only log for people, and the change feed along generations."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa

from indexes.stores.ledger.tables import (
    LedgerPart,
    change,
    feed,
    former_text,
    generation,
    history,
    insert_new,
    update_each,
    upsert,
)
from schemas.batches import batched, in_parts
from schemas.changes import Feed, FeedEntry
from schemas.documents import DocumentState, FetchAttempt, HistoryEntry, HistoryEvent, KnownDocument
from schemas.errors import ChangesUnavailable, ConfigError
from schemas.records import from_record, to_record

_KEY, _PROLONGED = ("source", "uri", "seq"), ("until", "times", "run_id", "bytes")

KEEP_ENTRIES = 20
"""Entries kept of a document besides the one that says how it was found."""


class History(LedgerPart):
    """Reads the `history` table; `Documents` writes it, in the transaction that changes the document."""

    def of_document(self, source: str, uri: str) -> tuple[HistoryEntry, ...]:
        """What is remembered of a document, oldest first."""
        query = sa.select(history).where(history.c.source == source, history.c.uri == uri)
        return tuple(_entry(row) for row in self._rows(query.order_by(history.c.seq)))


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
    prolonged = (entry for entry, last in entries if last is not None and entry.seq == last.seq)
    update_each(connection, history, map(to_record, prolonged), keys=_KEY, values=_PROLONGED)
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
        for part in in_parts(uris)
        for entry in _last_of(connection, source, part)
    }


def _last_of(connection: sa.Connection, source: str, uris: Sequence[str]) -> list[HistoryEntry]:
    # A join with the highest numbers is shorter, and PostgreSQL reads the table once for each row of it.
    newest = sa.func.row_number().over(partition_by=history.c.uri, order_by=history.c.seq.desc())
    theirs = (history.c.source == source, history.c.uri.in_(uris))
    numbered = sa.select(history, newest.label("place")).where(*theirs).subquery()
    columns = [numbered.c[column.name] for column in history.columns]
    rows = connection.execute(sa.select(*columns).where(numbered.c.place == 1))
    return [_entry(row) for row in rows]


def _append(connection: sa.Connection, entries: Sequence[HistoryEntry]) -> None:
    insert_new(connection, history, [to_record(entry) for entry in entries])
    old = [
        {"of_source": entry.source, "of_uri": entry.uri, "last": entry.seq - KEEP_ENTRIES}
        for entry in entries
        if entry.seq > KEEP_ENTRIES
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


KEEP_STEPS = 100
"""Generations back from the newest whose feed is kept, with the texts that they took out, by default."""
_ROWS = 1000


class Changes(LedgerPart):
    """Reads the `change` table; `Generations` writes it, in the transaction that freezes a plan."""

    def read(self, *, since: int | None, until: int, current: int, source: str | None = None) -> Feed:
        """Return what leads from generation *since* to *until*, in order; of one source where named.

        *since* None is the generation that *until* was made from.

        *current* is what readers see; only the generations it was built on count.

        Raises: ConfigError: a number that readers have not come to; ChangesUnavailable: the feed no
        longer goes back that far, or readers went back and *since* was taken from them.
        """
        with self._reading.connect() as connection:
            bases = {
                row.generation: row.base
                for row in connection.execute(sa.select(generation.c.generation, generation.c.base))
            }
            since = bases.get(until, 0) if since is None else since
            path = path_between(bases, since=since, until=until, current=current)
            _check_kept(connection, path, since=since, current=current)
            return Feed(since=since, until=until, entries=_feed_entries(connection, path, source))


def path_between(bases: Mapping[int, int], *, since: int, until: int, current: int) -> tuple[int, ...]:
    """Return the generations after *since* up to *until*, oldest first; *bases* say what each was built on.

    Raises: ConfigError, ChangesUnavailable: as `Changes.read`.
    """
    line = [current]
    while line[-1] > since:
        line.append(bases.get(line[-1], 0))
    if since > current and since not in bases:
        raise ConfigError(f"generation {since} is not published; readers see {current}", subject="--since")
    if line[-1] != since:
        raise ChangesUnavailable(
            f"did not lead to generation {current}, which readers see; {_ANEW.format(current)}",
            subject=f"generation {since}",
        )
    if since > until:
        raise ConfigError(f"generation {until} comes before generation {since}", subject="--until")
    if until not in line:
        seen = ", ".join(map(str, reversed(line)))
        raise ConfigError(f"generation {until} is not one that readers saw: {seen}", subject="--until")
    return tuple(number for number in reversed(line) if since < number <= until)


def write_changes(
    connection: sa.Connection,
    number: int,
    entries: Iterable[FeedEntry],
    *,
    former: Iterable[tuple[str, str]] = (),
    keep: int = KEEP_STEPS,
) -> None:
    """Keep the feed of a generation, and drop what is more than *keep* generations old.

    Args: former: ids and texts of the passages that the generation takes out.
    """
    rows = [
        {**to_record(entry), "generation": number, "seq": seq} for seq, entry in enumerate(entries, start=1)
    ]
    upsert(connection, change, rows)
    upsert(connection, feed, [{"generation": number, "entries": len(rows)}])
    for part in batched(former, _ROWS):
        upsert(connection, former_text, [{"chunk": id_, "text": text} for id_, text in part])
    _forget(connection, lambda table: table.c.generation <= number - keep)


def take_back_changes(connection: sa.Connection, number: int) -> None:
    """Drop the feed of a generation that will not be."""
    _forget(connection, lambda table: table.c.generation == number)


def forget_former_texts(connection: sa.Connection, source: str) -> None:
    """Drop what passages of a source said that are no more; that they went is still told."""
    theirs = sa.select(change.c.old_id).where(change.c.source == source, change.c.old_id.is_not(None))
    connection.execute(sa.delete(former_text).where(former_text.c.chunk.in_(theirs)))


def _forget(connection: sa.Connection, which: Callable[[sa.FromClause], sa.ColumnElement[bool]]) -> None:
    """Drop the feed of some generations, and the texts that no other one took out."""
    goes, other = change, change.alias()
    named = sa.select(goes.c.old_id).where(which(goes), goes.c.old_id.is_not(None))
    elsewhere = sa.exists().where(other.c.old_id == former_text.c.chunk, sa.not_(which(other)))
    connection.execute(sa.delete(former_text).where(former_text.c.chunk.in_(named), sa.not_(elsewhere)))
    for table in (change, feed):
        connection.execute(sa.delete(table).where(which(table)))


_ANEW = "take a whole copy with: sitegraph export, then continue with: sitegraph changes --since {}"


def _check_kept(connection: sa.Connection, path: Sequence[int], *, since: int, current: int) -> None:
    kept = frozenset(connection.execute(sa.select(feed.c.generation)).scalars().all())
    lost = [number for number in path if number not in kept]
    if lost:
        raise ChangesUnavailable(
            f"the feed goes back to generation {lost[-1]} only; {_ANEW.format(current)}",
            subject=f"generation {since}",
        )


def _feed_entries(
    connection: sa.Connection, path: Sequence[int], source: str | None
) -> tuple[FeedEntry, ...]:
    columns = [column for column in change.columns if column.name != "seq"]
    query = sa.select(*columns).where(change.c.generation.in_(path))
    if source is not None:
        query = query.where(change.c.source == source)
    rows = connection.execute(query.order_by(change.c.generation, change.c.seq))
    return tuple(from_record(FeedEntry, dict(row._mapping)) for row in rows)
