"""Leases with fencing tokens, turns at hosts, and what was learnt of hosts."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.engine import open_engine
from indexes.stores.ledger.tables import (
    LedgerPart,
    host,
    host_turn,
    host_user,
    insert,
    insert_new,
    lease,
    lease_start,
    site_dates,
    upsert,
)
from schemas.errors import StaleLease
from schemas.fetch import HostTurn

_OVER = "1970-01-01T00:00:00.000+00:00"
"""When a lease expired that its holder let go: whatever clock comes next, and was set back, it is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease as held; the token grows with every change of holder."""

    name: str
    holder: str
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLease:
    """A lease that somebody holds, and since when; None where a version before wrote it."""

    name: str
    holder: str
    since: str | None
    expires_at: str


class Leases(LedgerPart):
    """The `lease` and `lease_start` tables. Times are ISO 8601 in UTC, so that they compare as text.

    A lease is over at the moment it expires; until somebody takes it, its last holder may still renew it.
    """

    def acquire(self, name: str, *, holder: str, now: str, expires_at: str) -> Lease | None:
        """Take the lease if it is free or expired; None when somebody holds it."""
        values = {"name": name, "token": 1, "holder": holder, "expires_at": expires_at}
        taken_over = {"token": lease.c.token + 1, "holder": holder, "expires_at": expires_at}
        with self._engine.begin() as connection:
            # One statement, so that of two who come at once the second sees what the first has written.
            statement = insert(connection, lease).values(values)
            statement = statement.on_conflict_do_update(
                index_elements=["name"], set_=taken_over, where=lease.c.expires_at <= now
            )
            token = connection.execute(statement.returning(lease.c.token)).scalar()
            if token is not None:
                upsert(connection, lease_start, [{"name": name, "token": token, "acquired_at": now}])
        return None if token is None else Lease(name=name, holder=holder, token=token)

    def renew(self, held: Lease, *, expires_at: str) -> None:
        """Prolong a lease.

        Raises: StaleLease: somebody has taken it over.
        """
        with self._engine.begin() as connection:
            mine = (lease.c.name == held.name, lease.c.token == held.token)
            done = connection.execute(sa.update(lease).where(*mine).values(expires_at=expires_at))
            if done.rowcount != 1:
                raise stale(held)

    def check(self, held: Lease) -> None:
        """Raise StaleLease unless the lease is still ours."""
        if self._token(held.name) != held.token:
            raise stale(held)

    @contextmanager
    def locked(self, held: Lease) -> Iterator[None]:
        """Keep others from taking the lease over while the block runs, even when it expires meanwhile.

        The block may not write to the ledger, and should be short: whoever wants the lease waits for it.

        Raises: StaleLease: somebody has taken it over; the block is not entered.
        """
        with self._engine.begin() as connection:
            query = sa.select(lease.c.token).where(lease.c.name == held.name).with_for_update()
            if connection.execute(query).scalar() != held.token:
                raise stale(held)
            yield

    def release(self, held: Lease) -> None:
        """Let go; a lease that was taken over is left alone."""
        with self._engine.begin() as connection:
            mine = (lease.c.name == held.name, lease.c.token == held.token)
            connection.execute(sa.update(lease).where(*mine).values(expires_at=_OVER))

    def holder(self, name: str, *, now: str) -> str | None:
        """Who holds the lease at the moment."""
        return self._value(sa.select(lease.c.holder).where(lease.c.name == name, lease.c.expires_at > now))

    def held(self, *, now: str) -> frozenset[str]:
        """Names of all leases that somebody holds at the moment."""
        return frozenset(self._values(sa.select(lease.c.name).where(lease.c.expires_at > now)))

    def describe(self, *, now: str) -> tuple[HeldLease, ...]:
        """Every lease that somebody holds at the moment, by name."""
        with self._reading.connect() as connection:
            # A ledger that may only be read, made by a version before, has no such table.
            known = sa.inspect(connection).has_table(lease_start.name)
            same = sa.and_(lease.c.name == lease_start.c.name, lease.c.token == lease_start.c.token)
            query = sa.select(lease, lease_start.c.acquired_at if known else sa.null().label("acquired_at"))
            query = query.select_from(lease.outerjoin(lease_start, same)) if known else query
            rows = connection.execute(query.where(lease.c.expires_at > now).order_by(lease.c.name)).all()
        return tuple(
            HeldLease(name=r.name, holder=r.holder, since=r.acquired_at, expires_at=r.expires_at)
            for r in rows
        )

    def break_(self, name: str, *, holder: str) -> None:
        """End the lease of a holder that is known to be dead."""
        with self._engine.begin() as connection:
            theirs = (lease.c.name == name, lease.c.holder == holder)
            connection.execute(sa.update(lease).where(*theirs).values(expires_at=_OVER))

    def _token(self, name: str) -> int | None:
        return self._value(sa.select(lease.c.token).where(lease.c.name == name))


def stale(held: Lease) -> StaleLease:
    """The error of a holder that has lost its lease."""
    return StaleLease("another run has taken over; this one stops without publishing", subject=held.name)


class Hosts(LedgerPart):
    """The `host` and `site_dates` tables."""

    def distrust(self, reasons: Mapping[str, str], *, now: str) -> None:
        """Record hosts whose 304 is no longer believed, and why; the first reason given stays."""
        rows = [{"host": name, "distrusted_at": now, "reason": reason} for name, reason in reasons.items()]
        self._insert_new(host, rows)

    def distrusted(self) -> Mapping[str, str]:
        """Reason by host, for every host whose 304 is not believed, ordered by host."""
        query = sa.select(host.c.host, host.c.reason).order_by(host.c.host)
        return {row.host: row.reason for row in self._rows(query)}

    def disbelieve_dates(self, sites: Collection[str], *, now: str) -> None:
        """Record that the dates which these sites gave before *now* say nothing of what they send."""
        self._upsert(site_dates, [{"site": site, "since": now} for site in sites])

    def disbelieved_dates(self) -> Mapping[str, str]:
        """Until when the dates that a site gave are not believed, by site (`https://docs.example/`)."""
        query = sa.select(site_dates.c.site, site_dates.c.since).order_by(site_dates.c.site)
        return {row.site: row.since for row in self._rows(query)}


SLICE = 10.0
"""Seconds of a turn: a run that is alone with a host writes here twice in these, however much it fetches."""

HOLD = 60.0
"""Seconds that a turn is kept for a run which says nothing more: one that died delays the others so long."""

POLL = 0.5
IN_LINE = 30.0
"""Seconds that a run keeps its place in the line after it last asked; it asks every `SLICE` at least."""

LONGEST = 2 * 3600.0
"""A moment further ahead was written before the clock of the database was put back."""

_ROUNDING = 0.002
"""SQLite tells milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A run that asks a host: its delay in seconds, and since when it has waited, if it does."""

    holder: str
    delay: float
    waiting_since: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTurn:
    """A host: who has the turn ("" for nobody), until when others wait, the latest it can have been asked."""

    holder: str = ""
    until: float = 0.0
    asked_at: float = 0.0


def decide_turn(held: HeldTurn, me: User, others: Collection[User], *, now: float) -> HostTurn:
    """Say whether it is my turn, and if not, when to ask again.

    The longest delay of all counts since the last request of anybody. Who has waited longest is next.
    """
    slowest = max((one.delay for one in others), default=0.0)
    if held.holder == me.holder and held.until > now:
        # Who was cancelled while it took its turn does not know that it has it.
        return HostTurn(wait=0.0, delay=slowest, others=len(others))
    free_at = max(held.until, held.asked_at + max(slowest, me.delay))
    wait = free_at - now if free_at - now <= LONGEST else 0.0
    since = now if me.waiting_since is None else me.waiting_since
    line = ((one.waiting_since, one.holder) for one in others if one.waiting_since is not None)
    earlier = any(place < (since, me.holder) for place in line)
    if held.holder not in ("", me.holder) and wait > 0:
        wait = max(min(wait, held.asked_at - now), POLL)  # it may let go as soon as its slice is over
    elif earlier:
        wait = max(wait, POLL)
    return HostTurn(wait=max(min(wait, LONGEST), 0.0), delay=slowest, others=len(others))


def open_turns(url: str, *, seconds: float = SLICE) -> "HostTurns":
    """Open the turns in a database, which need not be the ledger of an index yet.

    Raises: StoreUnavailable: the database does not answer; ConfigError: the URL is wrong.
    """
    return HostTurns(open_engine(url, tables=(host_turn, host_user)), seconds=seconds)


class HostTurns:
    """The `host_turn` and `host_user` tables; a turn lasts *seconds*."""

    def __init__(self, engine: sa.Engine, *, seconds: float = SLICE) -> None:
        self._engine = engine
        self._seconds = seconds

    def close(self) -> None:
        """Let go of connections."""
        self._engine.dispose()

    def take(self, host: str, *, holder: str, delay: float) -> HostTurn:
        """Take the turn at a host, or a place in the line; *delay*: seconds between our requests."""
        with self._engine.begin() as connection:
            insert_new(connection, host_turn, [{"host": host, "holder": "", "until": 0.0, "asked_at": 0.0}])
            held = _held(connection, host)
            now = _now(connection)  # after the lock: it may have been waited for
            expired = (host_user.c.host == host, host_user.c.expires_at <= now)
            connection.execute(sa.delete(host_user).where(*expired))
            users = {user.holder: user for user in _users(connection, host)}
            mine = users.pop(holder, None)
            me = User(holder=holder, delay=delay, waiting_since=mine.waiting_since if mine else None)
            turn = decide_turn(held, me, users.values(), now=now)
            if turn.wait == 0:
                turn = replace(turn, seconds=self._seconds)
            _record(connection, host, me, turn, now=now)
        return turn

    def prolong(self, host: str, *, holder: str) -> None:
        """Keep a turn whose last request has not ended yet."""
        with self._engine.begin() as connection:
            until = _now(connection) + HOLD
            connection.execute(_mine(host, holder).values(until=until))

    def release(self, host: str, *, holder: str, since: float, pause: float) -> None:
        """Let others ask the host in *pause* seconds; *since*: seconds since our last request ended."""
        with self._engine.begin() as connection:
            now = _now(connection) + _ROUNDING
            values = {"holder": "", "until": now + pause, "asked_at": now - since}
            connection.execute(_mine(host, holder).values(**values))

    def leave(self, holder: str) -> None:
        """Forget a run that asks nothing any more; others count their delay from now."""
        with self._engine.begin() as connection:
            now = _now(connection) + _ROUNDING
            left = sa.update(host_turn).where(host_turn.c.holder == holder)
            connection.execute(left.values(holder="", until=now, asked_at=now))
            connection.execute(sa.delete(host_user).where(host_user.c.holder == holder))


def _record(connection: sa.Connection, host: str, me: User, turn: HostTurn, *, now: float) -> None:
    granted = turn.wait == 0
    waiting = None if granted else now if me.waiting_since is None else me.waiting_since
    # One that has its turn is heard of next after its delay, which may be minutes.
    expires = now + (HOLD + 2 * max(me.delay, turn.delay) if granted else IN_LINE)
    user = {
        "host": host,
        "holder": me.holder,
        "delay": me.delay,
        "waiting_since": waiting,
        "expires_at": expires,
    }
    upsert(connection, host_user, [user])
    if granted:
        values = {"holder": me.holder, "until": now + HOLD, "asked_at": now + turn.seconds}
        connection.execute(sa.update(host_turn).where(host_turn.c.host == host).values(**values))


def _mine(host: str, holder: str) -> Any:
    return sa.update(host_turn).where(host_turn.c.host == host, host_turn.c.holder == holder)


def _held(connection: sa.Connection, host: str) -> HeldTurn:
    """Read the row, and lock it until the end of the transaction."""
    columns = (host_turn.c.holder, host_turn.c.until, host_turn.c.asked_at)
    query = sa.select(*columns).where(host_turn.c.host == host).with_for_update()
    return HeldTurn(**connection.execute(query).one()._mapping)


def _users(connection: sa.Connection, host: str) -> list[User]:
    columns = (host_user.c.holder, host_user.c.delay, host_user.c.waiting_since)
    rows = connection.execute(sa.select(*columns).where(host_user.c.host == host))
    return [User(**row._mapping) for row in rows]


def _now(connection: sa.Connection) -> float:
    """Seconds since 1970 by the database's clock; PostgreSQL's `now()` is when the transaction began."""
    epoch = (
        sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)
        if connection.dialect.name == "postgresql"
        else (sa.func.julianday("now") - 2440587.5) * 86400.0
    )
    return float(connection.execute(sa.select(epoch)).scalar_one())
