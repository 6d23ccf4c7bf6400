"""Leases with fencing tokens: at most one holder, and a token that tells a late one it has lost."""

from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.tables import lease
from schemas.errors import StaleLease


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease as held; the token grows with every change of holder."""

    name: str
    holder: str
    token: int


class Leases:
    """The `lease` table. Times are ISO 8601 in UTC, so that they compare as text."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def acquire(self, name: str, *, holder: str, now: str, expires_at: str) -> Lease | None:
        """Take the lease if it is free or expired; None when somebody holds it."""
        with self._engine.begin() as connection:
            query = sa.select(lease).where(lease.c.name == name).with_for_update()
            row = connection.execute(query).first()
            if row is not None and row.expires_at > now:
                return None
            token = 1 if row is None else row.token + 1
            values = {"name": name, "token": token, "holder": holder, "expires_at": expires_at}
            if row is None:
                connection.execute(sa.insert(lease).values(values))
            else:
                connection.execute(sa.update(lease).where(lease.c.name == name).values(values))
        return Lease(name=name, holder=holder, token=token)

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

    def release(self, held: Lease, *, now: str) -> None:
        """Let go; a lease that was taken over is left alone."""
        with self._engine.begin() as connection:
            mine = (lease.c.name == held.name, lease.c.token == held.token)
            connection.execute(sa.update(lease).where(*mine).values(expires_at=now))

    def holder(self, name: str, *, now: str) -> str | None:
        """Who holds the lease at the moment."""
        query = sa.select(lease.c.holder).where(lease.c.name == name, lease.c.expires_at > now)
        with self._reading.connect() as connection:
            return connection.execute(query).scalar()

    def break_(self, name: str, *, holder: str, now: str) -> None:
        """End the lease of a holder that is known to be dead."""
        with self._engine.begin() as connection:
            theirs = (lease.c.name == name, lease.c.holder == holder)
            connection.execute(sa.update(lease).where(*theirs).values(expires_at=now))

    def _token(self, name: str) -> int | None:
        with self._reading.connect() as connection:
            return connection.execute(sa.select(lease.c.token).where(lease.c.name == name)).scalar()


def stale(held: Lease) -> StaleLease:
    """The error of a holder that has lost its lease."""
    return StaleLease("another run has taken over; this one stops without publishing", subject=held.name)
