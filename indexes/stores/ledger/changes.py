"""The change feed in the ledger: written when a generation is frozen, read along what readers have seen."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import sqlalchemy as sa

from indexes.stores.ledger.tables import change, feed, former_text, generation, upsert
from schemas.errors import ChangesUnavailable, ConfigError
from schemas.feed import Feed, FeedEntry
from schemas.records import from_record, to_record

KEEP = 100
"""Generations back from the newest whose feed is kept, with the texts that they took out, by default."""
_ROWS = 1000


class Changes:
    """Reads the `change` table; `Generations` writes it, in the transaction that freezes a plan."""

    def __init__(self, engine: sa.Engine) -> None:
        self._reading = engine.execution_options(read_only=True)

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
            return Feed(since=since, until=until, entries=_entries(connection, path, source))


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
    keep: int = KEEP,
) -> None:
    """Keep the feed of a generation, and drop what is more than *keep* generations old.

    Args: former: ids and texts of the passages that the generation takes out.
    """
    rows = [
        {**to_record(entry), "generation": number, "seq": seq} for seq, entry in enumerate(entries, start=1)
    ]
    upsert(connection, change, rows)
    upsert(connection, feed, [{"generation": number, "entries": len(rows)}])
    for part in _parts(former):
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


def _parts(rows: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    iterator = iter(rows)
    while part := list(islice(iterator, _ROWS)):
        yield part


_ANEW = "take a whole copy with: sitegraph export, then continue with: sitegraph changes --since {}"


def _check_kept(connection: sa.Connection, path: Sequence[int], *, since: int, current: int) -> None:
    kept = frozenset(connection.execute(sa.select(feed.c.generation)).scalars().all())
    lost = [number for number in path if number not in kept]
    if lost:
        raise ChangesUnavailable(
            f"the feed goes back to generation {lost[-1]} only; {_ANEW.format(current)}",
            subject=f"generation {since}",
        )


def _entries(connection: sa.Connection, path: Sequence[int], source: str | None) -> tuple[FeedEntry, ...]:
    columns = [column for column in change.columns if column.name != "seq"]
    query = sa.select(*columns).where(change.c.generation.in_(path))
    if source is not None:
        query = query.where(change.c.source == source)
    rows = connection.execute(query.order_by(change.c.generation, change.c.seq))
    return tuple(from_record(FeedEntry, dict(row._mapping)) for row in rows)
