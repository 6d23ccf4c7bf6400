"""What each document calls things, by content-addressed fragment, so that no generation makes it stale."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.retention import needed_fragments
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import doc_rev, fragment_name
from schemas.names import Name, NameRole

_IN_LIMIT = 500
_COLUMNS = (
    fragment_name.c.text,
    fragment_name.c.role,
    fragment_name.c.entity,
    fragment_name.c.disambiguation,
    fragment_name.c.node,
)
_ORDER = (fragment_name.c.fragment_sha, fragment_name.c.seq)


class NameIndex:
    """The `fragment_name` table."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def save(self, fragments: Iterable[tuple[str, Collection[Name]]]) -> None:
        """Keep the names of fragments by their hash, in place of those kept before; all or none."""
        with self._engine.begin() as connection:
            for sha, names in dict(fragments).items():
                connection.execute(sa.delete(fragment_name).where(fragment_name.c.fragment_sha == sha))
                rows = [_row(sha, seq, name) for seq, name in enumerate(names)]
                if rows:
                    connection.execute(sa.insert(fragment_name), rows)

    def collect(self) -> int:
        """Drop the names of fragments that nothing needs any more; give how many.

        Not while a source is being parsed, as for links.
        """
        with self._engine.begin() as connection:
            gone = sa.delete(fragment_name).where(fragment_name.c.fragment_sha.not_in(needed_fragments()))
            return connection.execute(gone).rowcount

    def of_fragments(self, shas: Collection[str]) -> Mapping[str, tuple[Name, ...]]:
        """Names by fragment, in the order they were saved; a fragment without names is left out."""
        found: dict[str, list[Name]] = {}
        ordered = sorted(shas)
        with self._reading.connect() as connection:
            for start in range(0, len(ordered), _IN_LIMIT):
                part = fragment_name.c.fragment_sha.in_(ordered[start : start + _IN_LIMIT])
                query = sa.select(fragment_name.c.fragment_sha, *_COLUMNS).where(part).order_by(*_ORDER)
                for row in connection.execute(query):
                    found.setdefault(row.fragment_sha, []).append(_name(row))
        return {sha: tuple(names) for sha, names in found.items()}

    def held(self, generation: int, *, without_docs: Collection[str]) -> Iterator[tuple[str, Name]]:
        """Yield each name of the generation's documents, but for some, with the document's node id."""
        leaving = frozenset(without_docs)
        query = (
            sa.select(doc_rev.c.doc, *_COLUMNS)
            .join(fragment_name, fragment_name.c.fragment_sha == doc_rev.c.fragment_sha)
            .where(*valid_at(doc_rev, generation))
            .order_by(doc_rev.c.doc, fragment_name.c.seq)
        )
        with self._reading.connect() as connection:
            for row in connection.execute(query):
                if row.doc not in leaving:
                    yield row.doc, _name(row)


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


def _name(row: Any) -> Name:
    return Name(
        text=row.text,
        role=NameRole(row.role),
        entity=row.entity,
        disambiguation=row.disambiguation,
        node=row.node,
    )
