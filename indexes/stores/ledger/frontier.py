"""Which addresses wait for a look, and what is known of those that new ones meet; no whole rows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.tables import document
from schemas.documents import ASLEEP, DocumentState

_IN_LIMIT = 500
_FOLLOWING = (";", "?")
"""What may follow a path in the addresses that vary it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a known address stands."""

    uri: str
    state: DocumentState
    depth: int
    run_id: str | None = None
    reason: str = ""
    fetched_at: str | None = None
    content_hash: str | None = None
    etag: str | None = None
    last_modified: str | None = None


_CLAIMED = sa.case((document.c.lastmod.is_distinct_from(document.c.lastmod_then), document.c.lastmod))
_BY_URGENCY = (document.c.depth, _CLAIMED.desc().nulls_last(), document.c.uri)
_COLUMNS = tuple(document.c[name] for name in Standing.__slots__)


def is_due(by: str) -> sa.ColumnElement[bool]:
    """What is new or due by then, and what was looked at after it, by a clock that was wrong."""
    due = (document.c.next_due.is_(None), document.c.next_due <= by)
    later = sa.func.substr(document.c.checked_at, 1, 19) > by[:19]  # they differ in what follows
    return sa.or_(document.c.state == DocumentState.NEW, *due, later)


class FrontierIndex:
    """The `document` table as those see it who ask what is known of an address."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def to_look_at(self, source: str, *, run_id: str, due_by: str | None, limit: int) -> tuple[Standing, ...]:
        """Documents this run has not looked at yet, nearest to a seed first.

        At equal depth, those come first of which the sitemap claims a change since the last look, the latest
        change first; then by URI. `due_by` keeps back those whose `next_due` lies later, unless they are new:
        what was revived has a date from its earlier life. Gone and out-of-scope documents are only looked at
        again when a link revives them.
        """
        wanted = [
            document.c.source == source,
            sa.or_(document.c.run_id.is_(None), document.c.run_id != run_id),
            document.c.state.notin_(ASLEEP),
        ]
        if due_by is not None:
            wanted.append(is_due(due_by))
        query = sa.select(*_COLUMNS).where(*wanted).order_by(*_BY_URGENCY).limit(limit)
        with self._reading.connect() as connection:
            return tuple(_standing(row) for row in connection.execute(query))

    def standing(self, source: str, uris: Iterable[str]) -> Mapping[str, Standing]:
        """Where the known ones of the URIs stand."""
        wanted = sorted(set(uris))
        found: dict[str, Standing] = {}
        with self._reading.connect() as connection:
            for start in range(0, len(wanted), _IN_LIMIT):
                part = document.c.uri.in_(wanted[start : start + _IN_LIMIT])
                rows = connection.execute(sa.select(*_COLUMNS).where(document.c.source == source, part))
                found |= {row.uri: _standing(row) for row in rows}
        return found

    def variants(self, source: str, paths: Collection[str]) -> Mapping[str, Sequence[Standing]]:
        """Known addresses of each path (an address before its `?`) with all their queries, ordered by URI.

        The bare path is one of them.
        """
        with self._reading.connect() as connection:
            return {path: _variants(connection, source, path) for path in sorted(paths)}

    def count_awake(self, source: str, prefix: str) -> int:
        """How many addresses that begin with *prefix* are not asleep."""
        query = sa.select(sa.func.count()).where(
            document.c.source == source,
            _starts_with(prefix),
            document.c.state.notin_(ASLEEP),
        )
        with self._reading.connect() as connection:
            return int(connection.execute(query).scalar_one())

    def look_again(self, source: str, *, run_id: str, since: Mapping[str, str]) -> None:
        """Let the run look again at what a 304 kept that rests on a date from before `since` of its site."""
        with self._engine.begin() as connection:
            for site, before in sorted(since.items()):
                hidden = (
                    document.c.source == source,
                    document.c.run_id == run_id,
                    document.c.state == DocumentState.NOT_MODIFIED,
                    document.c.fetched_at < before,
                    _starts_with(site),
                )
                connection.execute(sa.update(document).where(*hidden).values(run_id=None))

    def lower(self, source: str, depths: Mapping[str, int]) -> None:
        """Bring documents nearer to a seed; one that is nearer already stays."""
        rows = [{"of_uri": uri, "nearer": depth} for uri, depth in sorted(depths.items())]
        statement = (
            sa.update(document)
            .where(
                document.c.source == source,
                document.c.uri == sa.bindparam("of_uri"),
                document.c.depth > sa.bindparam("nearer"),
            )
            .values(depth=sa.bindparam("nearer"))
        )
        if rows:
            with self._engine.begin() as connection:
                connection.execute(statement, rows)


def _variants(connection: sa.Connection, source: str, path: str) -> tuple[Standing, ...]:
    starts = (_starts_with(path + char) for char in _FOLLOWING)
    among = sa.or_(document.c.uri == path, *starts)
    query = sa.select(*_COLUMNS).where(document.c.source == source, among).order_by(document.c.uri)
    return tuple(_standing(row) for row in connection.execute(query))


def _standing(row: sa.Row[tuple[object, ...]]) -> Standing:
    values = dict(row._mapping)
    return Standing(**{**values, "state": DocumentState(values["state"])})


def _starts_with(prefix: str) -> sa.ColumnElement[bool]:
    """A range of the primary key, which LIKE would not use."""
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return sa.and_(document.c.uri >= prefix, document.c.uri < end)
