"""What each document calls things, by content-addressed fragment, so that no generation makes it stale."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import (
    LedgerPart,
    doc_rev,
    fragment_name,
    insert_new,
    name_key,
    name_word,
)
from schemas.batches import IN_LIMIT, in_parts
from schemas.names import Name, NameRole, start_of
from schemas.records import to_record

_ROWS = 5_000

Placed = tuple[str, int, Name]
"""Hash of a fragment, the place of one of its names, and that name."""


def key_names(connection: sa.Connection, names: Collection[Placed]) -> None:
    """Let names be found by their keys; they have none yet."""
    if names:
        connection.execute(sa.insert(name_key), [_key_row(*one) for one in names])
    starts = {start_of(name.text) for _, _, name in names}
    # All at once, in one order: two that write would else wait for each other.
    insert_new(connection, name_word, [{"word": words[0]} for words in starts if len(words) > 1])


def key_all_names(connection: sa.Connection) -> None:
    """Give every name of a ledger its keys, where it was made before there were any."""
    found = connection.execute(sa.select(fragment_name))
    while rows := found.fetchmany(_ROWS):
        key_names(connection, [(row.fragment_sha, row.seq, name_in_row(row)) for row in rows])


def key_of(name: str) -> str:
    """The words that a name starts with, with a space between them."""
    return " ".join(start_of(name))


def name_in_row(row: Any) -> Name:
    """The name that a row of `fragment_name` says."""
    return Name(
        text=row.text,
        role=NameRole(row.role),
        entity=row.entity,
        disambiguation=row.disambiguation,
        node=row.node,
    )


def _key_row(sha: str, seq: int, name: Name) -> dict[str, str | int]:
    return {"fragment_sha": sha, "seq": seq, "start": key_of(name.text), "folded": name.folded}


_COLUMNS = tuple(fragment_name.c[field.name] for field in fields(Name))
_ORDER = (fragment_name.c.fragment_sha, fragment_name.c.seq)
_KEYED = sa.and_(
    name_key.c.fragment_sha == fragment_name.c.fragment_sha, name_key.c.seq == fragment_name.c.seq
)


class NameIndex(LedgerPart):
    """The `fragment_name` table, and what names are found by in it: `name_key`, `name_word`."""

    def save(self, fragments: Iterable[tuple[str, Collection[Name]]]) -> None:
        """Keep the names of fragments by their hash, in place of those kept before; all or none."""
        with self._engine.begin() as connection:
            saved = dict(fragments)
            for sha in saved:
                for table in (fragment_name, name_key):
                    connection.execute(sa.delete(table).where(table.c.fragment_sha == sha))
            placed = [(sha, *one) for sha, names in saved.items() for one in enumerate(names)]
            if placed:
                connection.execute(sa.insert(fragment_name), [_row(*one) for one in placed])
            key_names(connection, placed)

    def unkeyed(self, shas: Collection[str]) -> frozenset[str]:
        """Those of the fragments that have a name which cannot be looked up."""
        query = sa.select(fragment_name.c.fragment_sha).select_from(fragment_name.outerjoin(name_key, _KEYED))
        query = query.where(name_key.c.seq.is_(None))
        return frozenset(row.fragment_sha for row in self._among(query, fragment_name.c.fragment_sha, shas))

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, tuple[Name, ...]]:
        """Names by fragment, in the order they were saved; a fragment without names is left out."""
        found: dict[str, list[Name]] = {}
        query = sa.select(fragment_name.c.fragment_sha, *_COLUMNS).order_by(*_ORDER)
        for row in self._among(query, fragment_name.c.fragment_sha, shas):
            found.setdefault(row.fragment_sha, []).append(name_in_row(row))
        return {sha: tuple(names) for sha, names in found.items()}

    def held(self, generation: int, *, without_docs: Collection[str]) -> Iterator[tuple[str, Name]]:
        """Yield each name of the generation's documents, but for some, with the document's node id."""
        leaving = frozenset(without_docs)
        query = _stated(generation).order_by(doc_rev.c.doc, fragment_name.c.seq)
        for row in self._rows(query):
            if row.doc not in leaving:
                yield row.doc, name_in_row(row)

    def first_words(self, words: Collection[str]) -> Mapping[str, bool]:
        """Say of those of the words with which a name of several words starts, or once did, that it does."""
        return {row.word: True for row in self._among(sa.select(name_word.c.word), name_word.c.word, words)}

    def entities_starting(self, starts: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Folded entities by how a name of theirs starts, in whichever document or generation it stands.

        A start is one or two words (`start_of`) with a space between them; that of no name is left out.
        """
        query = sa.select(name_key.c.start, name_key.c.folded).distinct()
        found: dict[str, set[str]] = {}
        for row in self._among(query, name_key.c.start, starts):
            found.setdefault(row.start, set()).add(row.folded)
        return {start: frozenset(folded) for start, folded in found.items()}

    def entities_called(self, texts: Collection[str]) -> frozenset[str]:
        """Folded entities that have one of the texts as a name, in whichever document or generation."""
        query = sa.select(name_key.c.folded).distinct().join(fragment_name, _KEYED)
        found: set[str] = set()
        for part in in_parts(texts):
            starts = {key_of(text) for text in part}
            called = (name_key.c.start.in_(sorted(starts)), fragment_name.c.text.in_(part))
            found.update(self._values(query.where(*called)))
        return frozenset(found)

    def of_entities(
        self, folded: Collection[str], *, generation: int, without_docs: Collection[str], at_most: int
    ) -> tuple[tuple[str, Name], ...]:
        """Names of entities in the generation, but for some documents, with the document's node id.

        Of names that differ in their node alone, at least the first *at_most* by document; of those that
        are of no node, the first.
        """
        leaving = frozenset(without_docs)
        found: list[tuple[str, Name]] = []
        for part in in_parts(folded):
            ranked = _ranked(generation).where(name_key.c.folded.in_(part)).subquery()
            first = sa.case((ranked.c.node.is_(None), len(leaving) + 1), else_=len(leaving) + at_most)
            several = sa.select(ranked).where(ranked.c.place <= first)
            found += [(row.doc, name_in_row(row)) for row in self._rows(several)]
        return tuple((doc, name) for doc, name in found if doc not in leaving)

    def of_documents(self, docs: Collection[str], *, generation: int) -> tuple[tuple[str, Name], ...]:
        """Names of documents themselves, not of their sections, with the document's node id."""
        query = _stated(generation).where(fragment_name.c.node == doc_rev.c.doc)
        return tuple((row.doc, name_in_row(row)) for row in self._among(query, doc_rev.c.doc, docs))


def _stated(generation: int) -> sa.Select[Any]:
    return (
        sa.select(doc_rev.c.doc, *_COLUMNS)
        .join(fragment_name, fragment_name.c.fragment_sha == doc_rev.c.fragment_sha)
        .where(*valid_at(doc_rev, generation))
    )


def _ranked(generation: int) -> sa.Select[Any]:
    """Names with their place among those that differ in document and node alone."""
    columns = fragment_name.c
    alike = (columns.entity, columns.disambiguation, columns.text, columns.role, columns.node.is_(None))
    place = sa.func.row_number().over(partition_by=alike, order_by=(doc_rev.c.doc, columns.seq))
    return _stated(generation).join(name_key, _KEYED).add_columns(place.label("place"))


def _row(sha: str, seq: int, name: Name) -> dict[str, str | int | None]:
    return {"fragment_sha": sha, "seq": seq, **to_record(name)}


class _utf8_length(FunctionElement[int]):  # noqa: N801 - functions of SQL are written like this
    """Bytes of a text in UTF-8, whatever the encoding of the database."""

    type = sa.Integer()
    inherit_cache = True


@compiles(_utf8_length, "postgresql")
def _postgresql(element: _utf8_length, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length(convert_to({compiler.process(element.clauses, **options)}, 'UTF8'))"


@compiles(_utf8_length, "sqlite")
def _sqlite(element: _utf8_length, compiler: SQLCompiler, **options: Any) -> str:
    return f"length(CAST({compiler.process(element.clauses, **options)} AS BLOB))"


def may_fold_to(column: sa.ColumnElement[str], folded: Collection[str]) -> sa.ColumnElement[bool]:
    """True of every row whose text folds to one of *folded*, and of every text with a letter beyond ASCII.

    Of all rows, where *folded* are many.
    """
    if len(folded) > IN_LIMIT:
        return column.is_not(None)
    # Beyond ASCII, folding changes more than letters: `Straße` and `STRASSE` are equal. Within it, columns
    # are compared by their bytes (tables.py), so that `lower` is that of no language.
    beyond_ascii = _utf8_length(column) > sa.func.length(column)
    return sa.or_(sa.func.lower(column).in_(sorted(folded)), beyond_ascii)
