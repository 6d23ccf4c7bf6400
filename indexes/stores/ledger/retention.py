"""Which stored files are still needed, and which were named once and may be deleted without listing all."""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.tables import (
    LedgerPart,
    collection,
    doc_rev,
    document,
    fragment_access,
    fragment_link,
    fragment_name,
    fragment_refusal,
    insert_new,
    match,
    name_key,
    origin,
    pages,
    replaced,
    soft_error,
    upsert,
    word_coverage,
)
from schemas.batches import in_parts
from schemas.documents import ASLEEP, KnownDocument

_ALL = ""
"""In place of a source: whether all files were ever looked at since the ledger was made, or restored."""


class FileKind(StrEnum):
    """Which store a file is in: that of fetched bytes, or that of what was parsed, pages of PDFs included."""

    RAW = "raw"
    FRAGMENT = "fragment"


class CollectionState(StrEnum):
    """Of a source's run; or of all files, which were looked at."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    SWEPT = "swept"


def note(connection: sa.Connection, kind: FileKind, hashes: Iterable[str | None]) -> None:
    """Remember files that lose a name now, with the pages of fragments; others may still name them."""
    found = {sha256 for sha256 in hashes if sha256}
    if kind is FileKind.FRAGMENT:
        for part in in_parts(found):
            query = sa.select(pages.c.pages_sha).where(pages.c.fragment_sha.in_(part))
            found.update(connection.execute(query).scalars())
    insert_new(connection, replaced, [{"kind": kind.value, "sha256": sha256} for sha256 in found])


def note_documents(connection: sa.Connection, documents: Collection[KnownDocument]) -> None:
    """Remember what rows about to be saved name no more, or need no more since they sleep or hold secrets."""
    after = {(known.source, known.uri): known for known in documents}
    columns = (document.c.source, document.c.uri, document.c.raw_sha, document.c.fragment_sha)
    raw: set[str | None] = {known.raw_sha for known in documents if known.state in ASLEEP or known.withheld}
    fragments: set[str | None] = {known.fragment_sha for known in documents if known.state in ASLEEP}
    for source in sorted({known.source for known in documents}):
        for part in in_parts(known.uri for known in documents if known.source == source):
            query = sa.select(*columns).where(document.c.source == source, document.c.uri.in_(part))
            for row in connection.execute(query):
                new = after[row.source, row.uri]
                raw.add(row.raw_sha if row.raw_sha != new.raw_sha else None)
                fragments.add(row.fragment_sha if row.fragment_sha != new.fragment_sha else None)
    note(connection, FileKind.RAW, raw)
    note(connection, FileKind.FRAGMENT, fragments)


def note_rows(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> None:
    """Remember the files of the rows of `document` that meet a condition."""
    query = sa.select(document.c.raw_sha, document.c.fragment_sha).where(condition)
    rows = connection.execute(query).all()
    note(connection, FileKind.RAW, (row.raw_sha for row in rows))
    note(connection, FileKind.FRAGMENT, (row.fragment_sha for row in rows))


def note_revisions(connection: sa.Connection, rows: Collection[sa.Row[tuple[str, str]]]) -> None:
    """Remember the files of rows of `doc_rev` that go, given by `doc` and `fragment_sha`."""
    note(connection, FileKind.FRAGMENT, (row.fragment_sha for row in rows))
    for part in in_parts(row.fragment_sha for row in rows):
        query = sa.select(origin.c.raw_sha).where(origin.c.fragment_sha.in_(part))
        note(connection, FileKind.RAW, connection.execute(query).scalars())
    for part in in_parts(row.doc for row in rows):
        note_rows(connection, sa.and_(document.c.doc.in_(part), document.c.state.in_([*ASLEEP])))


def note_values(
    connection: sa.Connection,
    kind: FileKind,
    key: sa.Column[str],
    value: sa.Column[str],
    new: Mapping[str, str | None],
) -> None:
    """Remember the values of a table that *new* ones, by key, are about to replace."""
    for part in in_parts(new):
        rows = connection.execute(sa.select(key, value).where(key.in_(part))).all()
        note(connection, kind, (old for one, old in rows if old != new[one]))


def begin_crawl(connection: sa.Connection, source: str, *, again: bool) -> None:
    """Say that a source is being crawled; *again*, or while it was, so that files may lie about."""
    broke_off = again or source in _states(connection)
    state = CollectionState.INTERRUPTED if broke_off else CollectionState.RUNNING
    upsert(connection, collection, [{"name": source, "state": state.value}])


def end_crawl(connection: sa.Connection, source: sa.ScalarSelect[str]) -> None:
    """Say that the crawl of a source came to its end."""
    ended = (collection.c.name == source, collection.c.state == CollectionState.RUNNING.value)
    connection.execute(sa.delete(collection).where(*ended))


def ask_for_sweep(connection: sa.Connection) -> None:
    """Say that files may lie about that nothing ever named."""
    connection.execute(sa.delete(collection).where(collection.c.name == _ALL))


def is_sweep_due(connection: sa.Connection) -> bool:
    """Whether files may lie about that nothing named: a crawl broke off, or nobody ever looked."""
    states = _states(connection)
    return _ALL not in states or CollectionState.INTERRUPTED.value in states.values()


def _states(connection: sa.Connection) -> dict[str, str]:
    query = sa.select(collection.c.name, collection.c.state)
    return {row.name: row.state for row in connection.execute(query)}


def swept(connection: sa.Connection) -> None:
    """Say that all files were looked at, and that what was noted is dealt with."""
    connection.execute(sa.delete(replaced))
    interrupted = collection.c.state == CollectionState.INTERRUPTED.value
    connection.execute(sa.delete(collection).where(interrupted))
    upsert(connection, collection, [{"name": _ALL, "state": CollectionState.SWEPT.value}])


_OF_FRAGMENTS = (
    *(fragment_access, fragment_link, name_key, fragment_name),
    *(fragment_refusal, match, origin, pages, soft_error, word_coverage),
)
"""Tables of what was read in fragments."""


class Retention(LedgerPart):
    """Hashes of the files to keep; what is under none of them may be deleted.

    A document that sleeps and is in no generation needs no files: if it wakes, it is fetched again. What only
    leads elsewhere keeps them: a stub answers 304 like any page, and a duplicate may be a page again.
    """

    def needed(self, kind: FileKind) -> frozenset[str]:
        """Files of a kind that a document in use or a kept generation needs, pages of PDFs included.

        Of bytes also those that generations draw from, where newer ones have come since.
        """
        return self._all(sa.union(*_needed(kind)))

    def needs_raw(self, sha256: str) -> bool:
        """Whether any document needs these bytes."""
        query = sa.select(document.c.raw_sha).where(document.c.raw_sha == sha256, _keeps_raw(), _in_use())
        return bool(self._all(query.limit(1)))

    def is_sweep_due(self) -> bool:
        """Whether files may lie about that nothing ever named, or that an earlier version left."""
        with self._reading.connect() as connection:
            return is_sweep_due(connection)

    def swept(self) -> None:
        """Say that nothing lies about any more, and forget what was replaced."""
        with self._engine.begin() as connection:
            swept(connection)

    def replaced(self, kind: FileKind) -> frozenset[str]:
        """Files that lost a name since `forget` was last told of them; some may still be needed."""
        return self._all(sa.select(replaced.c.sha256).where(replaced.c.kind == kind.value))

    def unneeded(self, kind: FileKind, hashes: Collection[str]) -> frozenset[str]:
        """Those of the files that no document and no kept generation needs; asks for these alone."""
        found = (self._all(query) for part in in_parts(hashes) for query in _needed(kind, part))
        return frozenset(hashes).difference(*found)

    def forget(self, kind: FileKind, hashes: Collection[str], *, deleted: Collection[str]) -> None:
        """Forget that files were replaced, and of the *deleted* fragments all that was read in them."""
        with self._engine.begin() as connection:
            for part in in_parts(hashes):
                ours = (replaced.c.kind == kind.value, replaced.c.sha256.in_(part))
                connection.execute(sa.delete(replaced).where(*ours))
            if kind is FileKind.FRAGMENT:
                for part in in_parts(deleted):
                    for table in _OF_FRAGMENTS:
                        connection.execute(sa.delete(table).where(table.c.fragment_sha.in_(part)))

    def drop_facts(self) -> int:
        """Drop all that was read in fragments that nothing needs any more; give how many rows.

        Not while a source is being parsed: what is read in a fragment is saved before its document is.
        """
        with self._engine.begin() as connection:
            gone = (
                sa.delete(t).where(t.c.fragment_sha.not_in(sa.union(*_fragments()))) for t in _OF_FRAGMENTS
            )
            return sum(connection.execute(each).rowcount for each in gone)

    def _all(self, query: sa.Executable) -> frozenset[str]:
        return frozenset(self._values(query))


def _needed(kind: FileKind, hashes: Collection[str] | None = None) -> list[sa.Select[tuple[str]]]:
    """Queries for the files of a kind that are needed, of *hashes* alone or of all."""
    if kind is FileKind.RAW:
        newest = _among(document.c.raw_sha, hashes).where(_keeps_raw(), _in_use())
        drawn = _among(origin.c.raw_sha, hashes)
        return [newest, drawn.join(doc_rev, doc_rev.c.fragment_sha == origin.c.fragment_sha)]
    read = _among(pages.c.pages_sha, hashes)  # the next version may have the pages of this one
    return [
        *_fragments(hashes),
        read.join(document, document.c.fragment_sha == pages.c.fragment_sha).where(_in_use()),
        # After a lost ledger only this says what was read of a document.
        read.join(doc_rev, doc_rev.c.fragment_sha == pages.c.fragment_sha),
    ]


def _fragments(hashes: Collection[str] | None = None) -> list[sa.Select[tuple[str]]]:
    """Queries for the parsed documents of kept generations, and of those that are still to come."""
    used = _among(document.c.fragment_sha, hashes).where(_in_use())
    return [_among(doc_rev.c.fragment_sha, hashes), used]


def _among(column: sa.Column[Any], hashes: Collection[str] | None) -> sa.Select[tuple[str]]:
    return sa.select(column).where(column.is_not(None) if hashes is None else column.in_(hashes))


def _keeps_raw() -> sa.ColumnElement[bool]:
    """Bytes with secrets in them are kept until they have been read."""
    is_read = document.c.parsed_sha.is_not_distinct_from(document.c.raw_sha)
    return sa.and_(document.c.raw_sha.is_not(None), sa.not_(sa.and_(document.c.withheld, is_read)))


def _in_use() -> sa.ColumnElement[bool]:
    held = document.c.doc.in_(sa.select(doc_rev.c.doc))
    return sa.or_(document.c.state.not_in([*ASLEEP]), held)
