"""Addresses that wait for a look, those that a run looked at, and those that it did not follow."""

import fcntl
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from indexes.stores.ledger.tables import LedgerPart, document, insert_new, listed, run, stop, upsert
from schemas.batches import in_parts
from schemas.documents import ASLEEP, REMOVED, DocumentState
from schemas.errors import StoreUnavailable
from schemas.ids import record_sha256
from schemas.records import to_record
from schemas.report import Problem, SecretCounts

T = TypeVar("T")

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


def due_condition(by: str) -> sa.ColumnElement[bool]:
    """What is new or due by then, and what was looked at after it, by a clock that was wrong."""
    due = (document.c.next_due.is_(None), document.c.next_due <= by)
    later = sa.func.substr(document.c.checked_at, 1, 19) > by[:19]  # they differ in what follows
    return sa.or_(document.c.state == DocumentState.NEW, *due, later)


class FrontierIndex(LedgerPart):
    """The `document` table as those see it who ask what is known of an address."""

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
            wanted.append(due_condition(due_by))
        query = sa.select(*_COLUMNS).where(*wanted).order_by(*_BY_URGENCY).limit(limit)
        return tuple(_typed(Standing, row) for row in self._rows(query))

    def standing(self, source: str, uris: Iterable[str]) -> Mapping[str, Standing]:
        """Where the known ones of the URIs stand."""
        query = sa.select(*_COLUMNS).where(document.c.source == source)
        return {row.uri: _typed(Standing, row) for row in self._among(query, document.c.uri, uris)}

    def variants(self, source: str, paths: Collection[str]) -> Mapping[str, Sequence[Standing]]:
        """Known addresses of each path (an address before its `?`) with all their queries, ordered by URI.

        The bare path is one of them.
        """
        return {path: self._variants(source, path) for path in sorted(paths)}

    def _variants(self, source: str, path: str) -> tuple[Standing, ...]:
        starts = (_starts_with(path + char) for char in _FOLLOWING)
        among = sa.or_(document.c.uri == path, *starts)
        query = sa.select(*_COLUMNS).where(document.c.source == source, among).order_by(document.c.uri)
        return tuple(_typed(Standing, row) for row in self._rows(query))

    def count_awake(self, source: str, prefix: str) -> int:
        """How many addresses that begin with *prefix* are not asleep."""
        return self._count(document.c.source == source, _starts_with(prefix), document.c.state.notin_(ASLEEP))

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
        rows = [{"source": source, "uri": uri, "depth": depth} for uri, depth in depths.items()]
        self._update_each(document, rows, keys=_KEY, values=["depth"], where=_is_nearer)


_KEY = ("source", "uri")


def _is_nearer(new: Mapping[str, sa.BindParameter[Any]]) -> sa.ColumnElement[bool]:
    return document.c.depth > new["depth"]


def _typed(kind: type[T], row: sa.Row[Any]) -> T:
    values = dict(row._mapping)
    return kind(**{**values, "state": DocumentState(values["state"])})


def _starts_with(prefix: str) -> sa.ColumnElement[bool]:
    """A range of the primary key, which LIKE would not use."""
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return sa.and_(document.c.uri >= prefix, document.c.uri < end)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDocument:
    """A document that a run looked at; the fields are those of `KnownDocument`."""

    uri: str
    state: DocumentState
    doc: str | None = None
    http_status: int | None = None
    reason: str = ""
    location: str | None = None
    failures: int = 0
    missed_at: str | None = None
    interval: float | None = None
    next_due: str | None = None
    checked_at: str | None = None
    lastmod: str | None = None
    lastmod_then: str | None = None
    lastmod_held: bool | None = None


_SEEN_COLUMNS = tuple(document.c[name] for name in SeenDocument.__slots__)
_RESCHEDULED = ("interval", "next_due", "lastmod_then", "lastmod_held")


class SeenDocuments(LedgerPart):
    """The `document` table as a run sees it that comes to its end."""

    def of_run(self, source: str, run_id: str) -> tuple[SeenDocument, ...]:
        """Documents that the run looked at, ordered by URI."""
        mine = (document.c.source == source, document.c.run_id == run_id)
        query = sa.select(*_SEEN_COLUMNS).where(*mine).order_by(document.c.uri)
        return tuple(_typed(SeenDocument, row) for row in self._rows(query))

    def missing(self, source: str) -> tuple[str, ...]:
        """Addresses of the source that answered 404 when they were last looked at, in order."""
        is_missing = (document.c.source == source, document.c.state == DocumentState.MISSING)
        return tuple(self._values(sa.select(document.c.uri).where(*is_missing).order_by(document.c.uri)))

    def secrets(self, source: str) -> SecretCounts:
        """Count secrets and the documents with any, of those that have not left the source."""
        mine = (document.c.source == source, document.c.secrets > 0, document.c.state.not_in([*REMOVED]))
        counts = sa.func.coalesce(sa.func.sum(document.c.secrets), 0), sa.func.count()
        with self._reading.connect() as connection:
            values, documents = connection.execute(sa.select(*counts).where(*mine)).one()
        return SecretCounts(values=int(values), documents=int(documents))

    def reschedule(self, source: str, seen: Collection[SeenDocument]) -> None:
        """Write interval, next due time and what claims were worth; nothing else of the rows changes."""
        rows = [{"source": source, **to_record(one)} for one in seen]
        self._update_each(document, rows, keys=_KEY, values=_RESCHEDULED)


KEPT = 10_000
"""Documents told apart by reason and run; a trap has more of them than anyone needs counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCount:
    """How many documents one reason stopped, and the first of them by URL."""

    reason: str
    documents: int
    example: str


class Stops(LedgerPart):
    """The `stop` table."""

    def add(self, run_id: str, stopped: Collection[Problem]) -> None:
        """Record documents that a run did not follow; equal ones once, and no more than KEPT by reason."""
        by_reason: dict[str, list[Problem]] = {}
        for problem in stopped:
            by_reason.setdefault(problem.reason, []).append(problem)
        if not by_reason:
            return
        with self._engine.begin() as connection:
            for reason, problems in sorted(by_reason.items()):
                if _count(connection, run_id, reason) < KEPT:
                    insert_new(connection, stop, [_row(run_id, problem) for problem in _distinct(problems)])

    def counts(self, run_id: str) -> tuple[StopCount, ...]:
        """Documents of a run by reason, ordered by reason."""
        columns = (
            stop.c.reason,
            sa.func.count().label("documents"),
            sa.func.min(stop.c.url).label("example"),
        )
        query = (
            sa.select(*columns).where(stop.c.run_id == run_id).group_by(stop.c.reason).order_by(stop.c.reason)
        )
        return tuple(StopCount(**row._mapping) for row in self._rows(query))

    def forget_ended(self) -> None:
        """Drop what runs that are over had recorded; their reports keep the counts."""
        running = sa.select(run.c.run_id).where(run.c.state == "running")
        self._run(sa.delete(stop).where(stop.c.run_id.not_in(running)))


def _count(connection: sa.Connection, run_id: str, reason: str) -> int:
    query = sa.select(sa.func.count()).where(stop.c.run_id == run_id, stop.c.reason == reason)
    return int(connection.execute(query).scalar_one())


def _distinct(problems: Sequence[Problem]) -> list[Problem]:
    return sorted(set(problems), key=lambda problem: problem.url)[:KEPT]


def _row(run_id: str, problem: Problem) -> dict[str, str]:
    sha256 = record_sha256(to_record(problem))
    return {"run_id": run_id, "sha256": sha256, "reason": problem.reason, "url": problem.url}


class Listings(LedgerPart):
    """The `listed` table: what lists each address of a source, as its last run read it."""

    def save(self, source: str, ways: Mapping[str, Collection[str]]) -> None:
        """Keep the ways that list each address, in place of all that was kept of the source."""
        new = {uri: " ".join(sorted(named)) for uri, named in ways.items()}
        with self._engine.begin() as connection:
            query = sa.select(listed.c.uri, listed.c.ways).where(listed.c.source == source)
            before = {row.uri: row.ways for row in connection.execute(query)}
            for part in in_parts(before.keys() - new.keys()):
                gone = (listed.c.source == source, listed.c.uri.in_(part))
                connection.execute(sa.delete(listed).where(*gone))
            changed = [(uri, named) for uri, named in new.items() if before.get(uri) != named]
            rows = [{"source": source, "uri": uri, "ways": named} for uri, named in changed]
            upsert(connection, listed, rows)

    def of_source(self, source: str) -> Mapping[str, tuple[str, ...]]:
        """The ways that list each address; empty in a ledger that no run has written to since."""
        query = sa.select(listed.c.uri, listed.c.ways).where(listed.c.source == source)
        with self._reading.connect() as connection:
            if not sa.inspect(connection).has_table(listed.name):
                return {}
            return {row.uri: tuple(row.ways.split(" ")) for row in connection.execute(query)}


_ADMISSION = 0x51_7E_64_B0
"""The first of the two numbers that name an advisory lock; any that nobody else uses will do."""


class Admission(LedgerPart):
    """A lock for each source, beside the ledger. It goes with the process that holds it."""

    @contextmanager
    def locked(self, source: str) -> Iterator[None]:
        """Keep others that would let documents of *source* in out of the block."""
        lock = self._lock_file() if self._engine.dialect.name == "sqlite" else self._advisory_lock(source)
        with lock:
            yield

    @contextmanager
    def _lock_file(self) -> Iterator[None]:
        """A transaction would do, but the block has several of its own.

        Source: flock(2): each opening of the file counts by itself, so threads exclude each other, too.
        """
        path = f"{self._engine.url.database}-admission"
        try:
            file = open(path, "ab")  # noqa: SIM115 - closed below, once it is known that it was opened
        except OSError as error:
            raise StoreUnavailable(f"cannot be opened: {error}", subject=path) from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _advisory_lock(self, source: str) -> Iterator[None]:
        """Source: PostgreSQL manual, 13.3.5 (advisory locks): it ends with its transaction."""
        key = zlib.crc32(source.encode()) - 2**31
        with self._engine.begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADMISSION, key)))
            yield
