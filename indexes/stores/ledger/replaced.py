"""Files that the ledger named and names no more: what a run may delete without listing all there are.

Whatever takes a name away notes it here, in the same transaction, so that a crash forgets none. Files that
were never named, since a crash came first, are found by a sweep alone: the ledger knows when one is due.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

import sqlalchemy as sa

from indexes.stores.ledger.tables import collection, document, insert_new, origin, pages, replaced, upsert
from schemas.documents import ASLEEP, KnownDocument

_IN_LIMIT = 500
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
        for part in parts(found):
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
        for part in parts(known.uri for known in documents if known.source == source):
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
    for part in parts(row.fragment_sha for row in rows):
        query = sa.select(origin.c.raw_sha).where(origin.c.fragment_sha.in_(part))
        note(connection, FileKind.RAW, connection.execute(query).scalars())
    for part in parts(row.doc for row in rows):
        note_rows(connection, sa.and_(document.c.doc.in_(part), document.c.state.in_([*ASLEEP])))


def note_values(
    connection: sa.Connection,
    kind: FileKind,
    key: sa.Column[str],
    value: sa.Column[str],
    new: Mapping[str, str | None],
) -> None:
    """Remember the values of a table that *new* ones, by key, are about to replace."""
    for part in parts(new):
        rows = connection.execute(sa.select(key, value).where(key.in_(part))).all()
        note(connection, kind, (old for one, old in rows if old != new[one]))


def begin(connection: sa.Connection, source: str, *, again: bool) -> None:
    """Say that a source is being crawled; *again*, or while it was, so that files may lie about."""
    broke_off = again or source in _states(connection)
    state = CollectionState.INTERRUPTED if broke_off else CollectionState.RUNNING
    upsert(connection, collection, [{"name": source, "state": state.value}])


def end(connection: sa.Connection, source: sa.ScalarSelect[str]) -> None:
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


def parts(values: Iterable[str]) -> Iterable[list[str]]:
    """Cut the sorted distinct values into lists that a query may name."""
    ordered = sorted(set(values))
    return (ordered[start : start + _IN_LIMIT] for start in range(0, len(ordered), _IN_LIMIT))
