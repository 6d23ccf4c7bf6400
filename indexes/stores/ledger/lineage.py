"""What led to the generation that readers see, for people who ask about it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

import sqlalchemy as sa

from indexes.stores.ledger.tables import change, feed, former_text, generation
from schemas.feed import FeedChange, FeedEntry, FeedKind
from schemas.lineage import Ancestor
from schemas.records import from_record

_IN_LIMIT = 500

Key = TypeVar("Key", int, str)


class Lineage:
    """Reads `generation` and `change` backwards from a generation; what was rolled back is not on the way."""

    def __init__(self, engine: sa.Engine) -> None:
        self._reading = engine.execution_options(read_only=True)

    def of(self, number: int) -> tuple[Ancestor, ...]:
        """*number* and the generations it was built on, newest first, as far back as the ledger goes."""
        columns = [generation.c[name] for name in ("generation", "base", "as_of", "source", "run_id")]
        with self._reading.connect() as connection:
            rows = {row.generation: row for row in connection.execute(sa.select(*columns))}
            kept = frozenset(connection.execute(sa.select(feed.c.generation)).scalars())
        found: list[Ancestor] = []
        while number in rows:
            found.append(Ancestor(**rows[number]._mapping, changes_kept=number in kept))
            # A base is older than what is built on it; a row that says otherwise must not turn in a circle.
            number = rows[number].base if rows[number].base < number else 0
        return tuple(found)

    def of_id(self, id_: str, generations: Collection[int]) -> tuple[FeedEntry, ...]:
        """What these generations did to a document, chunk or tool under this id, in order."""
        return self._entries(generations, change.c.old_id == id_, change.c.new_id == id_)

    def of_document(self, doc: str, uri: str, generations: Collection[int]) -> tuple[FeedEntry, ...]:
        """What these generations did to a document and to its chunks at this address, in order."""
        return self._entries(generations, change.c.uri == uri, change.c.old_id == doc, change.c.new_id == doc)

    def former_texts(self, ids: Collection[str]) -> Mapping[str, str]:
        """What passages that are no more said, by id, as far as it is kept."""
        query = sa.select(former_text.c.chunk, former_text.c.text)
        with self._reading.connect() as connection:
            if not sa.inspect(connection).has_table(former_text.name):
                return {}  # a ledger that no run has written to since there is this table
            return {
                row.chunk: row.text
                for part in _parts(ids)
                for row in connection.execute(query.where(former_text.c.chunk.in_(part)))
            }

    def counts(self, generations: Collection[int]) -> Mapping[int, Mapping[tuple[FeedKind, FeedChange], int]]:
        """How many entries of each kind the feed has of each of these generations."""
        what = (change.c.generation, change.c.kind, change.c.change)
        query = sa.select(*what, sa.func.count().label("entries")).group_by(*what)
        found: dict[int, Counter[tuple[FeedKind, FeedChange]]] = {}
        with self._reading.connect() as connection:
            for part in _parts(generations):
                for row in connection.execute(query.where(change.c.generation.in_(part))):
                    counted = found.setdefault(row.generation, Counter())
                    counted[FeedKind(row.kind), FeedChange(row.change)] = row.entries
        return found

    def _entries(
        self, generations: Collection[int], *conditions: sa.ColumnElement[bool]
    ) -> tuple[FeedEntry, ...]:
        """Entries that meet any of the conditions; asked one by one, each is answered from an index."""
        wanted = frozenset(generations)
        found: dict[tuple[int, int], FeedEntry] = {}
        with self._reading.connect() as connection:
            for condition in conditions:
                for row in connection.execute(sa.select(change).where(condition)):
                    fields = {name: value for name, value in row._mapping.items() if name != "seq"}
                    if row.generation in wanted:
                        found[row.generation, row.seq] = from_record(FeedEntry, fields)
        return tuple(found[key] for key in sorted(found))


def _parts(keys: Iterable[Key]) -> list[list[Key]]:
    ordered = sorted(keys)
    return [ordered[start : start + _IN_LIMIT] for start in range(0, len(ordered), _IN_LIMIT)]
