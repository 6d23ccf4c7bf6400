"""What each document calls things, by content-addressed fragment, so that no generation makes it stale."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.name_keys import key_names, key_of, name_of
from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import doc_rev, fragment_name, name_key, name_word
from schemas.names import Name

_IN_LIMIT = 500
_COLUMNS = (
    fragment_name.c.text,
    fragment_name.c.role,
    fragment_name.c.entity,
    fragment_name.c.disambiguation,
    fragment_name.c.node,
)
_ORDER = (fragment_name.c.fragment_sha, fragment_name.c.seq)
_KEYED = sa.and_(
    name_key.c.fragment_sha == fragment_name.c.fragment_sha, name_key.c.seq == fragment_name.c.seq
)


class NameIndex:
    """The `fragment_name` table, and what names are found by in it: `name_key`, `name_word`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

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

    def collect(self) -> int:
        """Drop the names of fragments that nothing needs any more; give how many.

        Not while a source is being parsed, as for links.
        """
        with self._engine.begin() as connection:
            for table in (name_key, fragment_name):
                gone = sa.delete(table).where(table.c.fragment_sha.not_in(needed_fragments()))
                dropped = connection.execute(gone).rowcount
            return dropped

    def unkeyed(self, shas: Collection[str]) -> frozenset[str]:
        """Those of the fragments that have a name which cannot be looked up."""
        query = sa.select(fragment_name.c.fragment_sha).select_from(fragment_name.outerjoin(name_key, _KEYED))
        query = query.where(name_key.c.seq.is_(None))
        found: set[str] = set()
        ordered = sorted(shas)
        with self._reading.connect() as connection:
            for start in range(0, len(ordered), _IN_LIMIT):
                part = fragment_name.c.fragment_sha.in_(ordered[start : start + _IN_LIMIT])
                found.update(connection.execute(query.where(part)).scalars())
        return frozenset(found)

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, tuple[Name, ...]]:
        """Names by fragment, in the order they were saved; a fragment without names is left out."""
        found: dict[str, list[Name]] = {}
        ordered = sorted(shas)
        with self._reading.connect() as connection:
            for start in range(0, len(ordered), _IN_LIMIT):
                part = fragment_name.c.fragment_sha.in_(ordered[start : start + _IN_LIMIT])
                query = sa.select(fragment_name.c.fragment_sha, *_COLUMNS).where(part).order_by(*_ORDER)
                for row in connection.execute(query):
                    found.setdefault(row.fragment_sha, []).append(name_of(row))
        return {sha: tuple(names) for sha, names in found.items()}

    def held(self, generation: int, *, without_docs: Collection[str]) -> Iterator[tuple[str, Name]]:
        """Yield each name of the generation's documents, but for some, with the document's node id."""
        leaving = frozenset(without_docs)
        query = _stated(generation).order_by(doc_rev.c.doc, fragment_name.c.seq)
        with self._reading.connect() as connection:
            for row in connection.execute(query):
                if row.doc not in leaving:
                    yield row.doc, name_of(row)

    def first_words(self, words: Collection[str]) -> Mapping[str, bool]:
        """Say of those of the words with which a name of several words starts, or once did, that it does."""
        found: dict[str, bool] = {}
        with self._reading.connect() as connection:
            for part in _parts(words):
                query = sa.select(name_word.c.word).where(name_word.c.word.in_(part))
                found |= dict.fromkeys(connection.execute(query).scalars(), True)
        return found

    def entities_starting(self, starts: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Folded entities by how a name of theirs starts, in whichever document or generation it stands.

        A start is one or two words (`start_of`) with a space between them; that of no name is left out.
        """
        query = sa.select(name_key.c.start, name_key.c.folded).distinct()
        found: dict[str, set[str]] = {}
        with self._reading.connect() as connection:
            for part in _parts(starts):
                for row in connection.execute(query.where(name_key.c.start.in_(part))):
                    found.setdefault(row.start, set()).add(row.folded)
        return {start: frozenset(folded) for start, folded in found.items()}

    def entities_called(self, texts: Collection[str]) -> frozenset[str]:
        """Folded entities that have one of the texts as a name, in whichever document or generation."""
        query = sa.select(name_key.c.folded).distinct().join(fragment_name, _KEYED)
        found: set[str] = set()
        with self._reading.connect() as connection:
            for part in _parts(texts):
                starts = {key_of(text) for text in part}
                called = (name_key.c.start.in_(sorted(starts)), fragment_name.c.text.in_(part))
                found.update(connection.execute(query.where(*called)).scalars())
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
        with self._reading.connect() as connection:
            for part in _parts(folded):
                ranked = _ranked(generation).where(name_key.c.folded.in_(part)).subquery()
                first = sa.case((ranked.c.node.is_(None), len(leaving) + 1), else_=len(leaving) + at_most)
                several = sa.select(ranked).where(ranked.c.place <= first)
                found += [(row.doc, name_of(row)) for row in connection.execute(several)]
        return tuple((doc, name) for doc, name in found if doc not in leaving)

    def of_documents(self, docs: Collection[str], *, generation: int) -> tuple[tuple[str, Name], ...]:
        """Names of documents themselves, not of their sections, with the document's node id."""
        query = _stated(generation).where(fragment_name.c.node == doc_rev.c.doc)
        found: list[tuple[str, Name]] = []
        with self._reading.connect() as connection:
            for part in _parts(docs):
                rows = connection.execute(query.where(doc_rev.c.doc.in_(part)))
                found += [(row.doc, name_of(row)) for row in rows]
        return tuple(found)


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


def _parts(values: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted({*values})
    return (ordered[start : start + _IN_LIMIT] for start in range(0, len(ordered), _IN_LIMIT))


def _row(sha: str, seq: int, name: Name) -> dict[str, str | int | None]:
    return {
        "fragment_sha": sha,
        "seq": seq,
        "text": name.text,
        "role": name.role.value,
        "entity": name.entity,
        "disambiguation": name.disambiguation,
        "node": name.node,
    }
