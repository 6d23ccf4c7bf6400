"""Leases with fencing tokens: at most one holder, and a token that tells a late one it has lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.tables import insert, lease, lease_start, upsert
from schemas.errors import StaleLease

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


class Leases:
    """The `lease` and `lease_start` tables. Times are ISO 8601 in UTC, so that they compare as text.

    A lease is over at the moment it expires; until somebody takes it, its last holder may still renew it.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

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
        query = sa.select(lease.c.holder).where(lease.c.name == name, lease.c.expires_at > now)
        with self._reading.connect() as connection:
            return connection.execute(query).scalar()

    def held(self, *, now: str) -> frozenset[str]:
        """Names of all leases that somebody holds at the moment."""
        query = sa.select(lease.c.name).where(lease.c.expires_at > now)
        with self._reading.connect() as connection:
            return frozenset(connection.execute(query).scalars())

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
        with self._reading.connect() as connection:
            return connection.execute(sa.select(lease.c.token).where(lease.c.name == name)).scalar()


def stale(held: Lease) -> StaleLease:
    """The error of a holder that has lost its lease."""
    return StaleLease("another run has taken over; this one stops without publishing", subject=held.name)
