"""Documents that a run did not follow, by reason: counted once each, however many batches met them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from indexes.stores.ledger.tables import insert_new, run, stop
from schemas.hashing import record_sha256
from schemas.records import to_record
from schemas.report import Problem

KEPT = 10_000
"""Documents told apart by reason and run; a trap has more of them than anyone needs counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCount:
    """How many documents one reason stopped, and the first of them by URL."""

    reason: str
    documents: int
    example: str


class Stops:
    """The `stop` table."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

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
        with self._reading.connect() as connection:
            return tuple(StopCount(**row._mapping) for row in connection.execute(query))

    def forget_ended(self) -> None:
        """Drop what runs that are over had recorded; their reports keep the counts."""
        running = sa.select(run.c.run_id).where(run.c.state == "running")
        with self._engine.begin() as connection:
            connection.execute(sa.delete(stop).where(stop.c.run_id.not_in(running)))


def _count(connection: sa.Connection, run_id: str, reason: str) -> int:
    query = sa.select(sa.func.count()).where(stop.c.run_id == run_id, stop.c.reason == reason)
    return int(connection.execute(query).scalar_one())


def _distinct(problems: Sequence[Problem]) -> list[Problem]:
    return sorted(set(problems), key=lambda problem: problem.url)[:KEPT]


def _row(run_id: str, problem: Problem) -> dict[str, str]:
    sha256 = record_sha256(to_record(problem))
    return {"run_id": run_id, "sha256": sha256, "reason": problem.reason, "url": problem.url}
