"""Which stored files are still needed: those that a document, or a generation that is kept, is made of."""

from collections.abc import Callable, Collection, Iterable, Mapping

import sqlalchemy as sa

from indexes.stores.ledger.replaced import FileKind, is_sweep_due, parts, swept
from indexes.stores.ledger.tables import (
    doc_rev,
    document,
    fragment_access,
    fragment_link,
    fragment_name,
    match,
    name_key,
    origin,
    pages,
    replaced,
    soft_error,
    word_coverage,
)
from schemas.documents import ASLEEP

_OF_FRAGMENTS = (
    *(fragment_access, fragment_link, name_key, fragment_name),
    *(match, origin, pages, soft_error, word_coverage),
)
"""Tables of what was read in fragments."""


class Retention:
    """Hashes of the files to keep; what is under none of them may be deleted.

    A document that sleeps and is in no generation needs no files: if it wakes, it is fetched again. What only
    leads elsewhere keeps them: a stub answers 304 like any page, and a duplicate may be a page again.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def raw_shas(self) -> frozenset[str]:
        """Bytes of every document that is in a generation, or may be without being fetched in full.

        Also those that generations draw from, where newer bytes have come since.
        """
        newest = sa.select(document.c.raw_sha).where(_keeps_raw(), _in_use())
        drawn = sa.select(origin.c.raw_sha).join(doc_rev, doc_rev.c.fragment_sha == origin.c.fragment_sha)
        return self._all(sa.union(newest, drawn.where(origin.c.raw_sha.is_not(None))))

    def needs_raw(self, sha256: str) -> bool:
        """Whether any document needs these bytes."""
        query = sa.select(document.c.raw_sha).where(document.c.raw_sha == sha256, _keeps_raw(), _in_use())
        return bool(self._all(query.limit(1)))

    def fragment_shas(self) -> frozenset[str]:
        """Parsed documents of the generations that are kept, and of those that are still to come."""
        return self._all(needed_fragments())

    def pages_shas(self) -> frozenset[str]:
        """What the pages of PDFs gave, of versions that are kept: the next one may have them too."""
        return self._all(sa.union(*_pages()))

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
        needed = _NEEDED[kind]
        found = (self._all(query) for part in parts(hashes) for query in needed(part))
        return frozenset(hashes).difference(*found)

    def forget(self, kind: FileKind, hashes: Collection[str], *, deleted: Collection[str]) -> None:
        """Forget that files were replaced, and of the *deleted* fragments all that was read in them."""
        with self._engine.begin() as connection:
            for part in parts(hashes):
                ours = (replaced.c.kind == kind.value, replaced.c.sha256.in_(part))
                connection.execute(sa.delete(replaced).where(*ours))
            if kind is FileKind.FRAGMENT:
                for part in parts(deleted):
                    for table in _OF_FRAGMENTS:
                        connection.execute(sa.delete(table).where(table.c.fragment_sha.in_(part)))

    def _all(self, query: sa.Executable) -> frozenset[str]:
        with self._reading.connect() as connection:
            return frozenset(connection.execute(query).scalars())


def needed_fragments() -> sa.CompoundSelect[tuple[str]]:
    """Hashes of the fragments that any generation or any document in use is made of."""
    return sa.union(
        sa.select(doc_rev.c.fragment_sha),
        sa.select(document.c.fragment_sha).where(document.c.fragment_sha.is_not(None), _in_use()),
    )


def _pages(*wanted: sa.ColumnElement[bool]) -> Iterable[sa.Select[tuple[str]]]:
    """Queries for the *wanted* pages of documents in use, and of generations that are kept.

    After a lost ledger only those say what was read of a document.
    """
    found = sa.select(pages.c.pages_sha).where(*wanted)
    yield found.join(document, document.c.fragment_sha == pages.c.fragment_sha).where(_in_use())
    yield found.join(doc_rev, doc_rev.c.fragment_sha == pages.c.fragment_sha)


def _keeps_raw() -> sa.ColumnElement[bool]:
    """Bytes with secrets in them are kept until they have been read."""
    is_read = document.c.parsed_sha.is_not_distinct_from(document.c.raw_sha)
    return sa.and_(document.c.raw_sha.is_not(None), sa.not_(sa.and_(document.c.withheld, is_read)))


def _in_use() -> sa.ColumnElement[bool]:
    held = document.c.doc.in_(sa.select(doc_rev.c.doc))
    return sa.or_(document.c.state.not_in([*ASLEEP]), held)


def _needed_raw(hashes: Collection[str]) -> Iterable[sa.Select[tuple[str]]]:
    """Queries for those of the fetched bytes that are needed, as `raw_shas` says."""
    yield sa.select(document.c.raw_sha).where(document.c.raw_sha.in_(hashes), _keeps_raw(), _in_use())
    drawn = doc_rev.c.fragment_sha == origin.c.fragment_sha
    yield sa.select(origin.c.raw_sha).join(doc_rev, drawn).where(origin.c.raw_sha.in_(hashes))


def _needed_fragments(hashes: Collection[str]) -> Iterable[sa.Select[tuple[str]]]:
    """Queries for those of the fragments and pages that are needed, as `fragment_shas`, `pages_shas` say."""
    yield sa.select(doc_rev.c.fragment_sha).where(doc_rev.c.fragment_sha.in_(hashes))
    yield sa.select(document.c.fragment_sha).where(document.c.fragment_sha.in_(hashes), _in_use())
    yield from _pages(pages.c.pages_sha.in_(hashes))


_NEEDED: Mapping[FileKind, Callable[[Collection[str]], Iterable[sa.Select[tuple[str]]]]] = {
    FileKind.RAW: _needed_raw,
    FileKind.FRAGMENT: _needed_fragments,
}
