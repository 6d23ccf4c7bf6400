"""Runs of sources: which are under way, what each reported."""

import json
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.replaced import begin, end
from indexes.stores.ledger.tables import generation, insert_new, lease, lease_start, problem, run
from schemas.hashing import record_sha256
from schemas.lineage import RunRow
from schemas.records import to_record
from schemas.report import Problem


class Runs:
    """The `run` and `problem` tables."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(read_only=True)

    def interrupted(self, source: str, *, since: str) -> str | None:
        """The run of the source, begun at *since* or later, that never finished: it goes on under its id."""
        query = (
            sa.select(run.c.run_id)
            .where(run.c.source == source, run.c.state == "running", run.c.started_at >= since)
            .order_by(run.c.started_at.desc())
        )
        with self._reading.connect() as connection:
            return connection.execute(query).scalars().first()

    def is_known(self, run_id: str) -> bool:
        """Whether a run of this id was ever opened."""
        with self._reading.connect() as connection:
            return bool(connection.execute(sa.select(sa.exists().where(run.c.run_id == run_id))).scalar_one())

    def resume(self, source: str) -> None:
        """Say that an interrupted run of the source goes on: it may have left files that nothing names."""
        with self._engine.begin() as connection:
            begin(connection, source, again=True)

    def start(self, run_id: str, *, source: str, now: str) -> None:
        """Open a run."""
        with self._engine.begin() as connection:
            begin(connection, source, again=False)
            connection.execute(
                sa.insert(run).values(run_id=run_id, source=source, state="running", started_at=now)
            )

    def finish(self, run_id: str, *, state: str, now: str, report: Mapping[str, Any] | None) -> None:
        """Close a run with its report; *state* is `finished` or `refused`, whose report says why."""
        values = {"state": state, "finished_at": now, "report": json.dumps(report) if report else None}
        with self._engine.begin() as connection:
            connection.execute(sa.update(run).where(run.c.run_id == run_id).values(**values))
            end(connection, sa.select(run.c.source).where(run.c.run_id == run_id).scalar_subquery())

    def note(self, run_id: str, report: Mapping[str, Any]) -> None:
        """Say why a run ended that the next one goes on with; it stays open.

        Nothing is said of one that is closed: another process has gone on with it, to its end.
        """
        mine = (run.c.run_id == run_id, run.c.state == "running")
        with self._engine.begin() as connection:
            connection.execute(sa.update(run).where(*mine).values(report=json.dumps(report)))

    def latest_reports(self) -> Mapping[str, Mapping[str, Any]]:
        """The run of each source that began last: `state`, `started_at`, `finished_at`, `report`.

        One that never finished is `running`; its report, where there is one, says what ended it.
        """
        latest = (
            sa.select(run.c.source, sa.func.max(run.c.started_at).label("started_at"))
            .group_by(run.c.source)
            .subquery()
        )
        same = sa.and_(run.c.source == latest.c.source, run.c.started_at == latest.c.started_at)
        # Of two that began in one second the one that is open, or finished last.
        order = (run.c.finished_at.is_(None), run.c.finished_at, run.c.run_id)
        query = sa.select(run).join(latest, same).order_by(*order)
        with self._reading.connect() as connection:
            return {
                row.source: {
                    "state": row.state,
                    "started_at": row.started_at,
                    "finished_at": row.finished_at,
                    "report": json.loads(row.report) if row.report else None,
                }
                for row in connection.execute(query)
            }

    def last_finished(self) -> Mapping[str, str]:
        """When the last run of each source that ended well did so, whether it published anything or not."""
        query = (
            sa.select(run.c.source, sa.func.max(run.c.finished_at))
            .where(run.c.state == "finished")
            .group_by(run.c.source)
        )
        with self._reading.connect() as connection:
            return {source: str(ended) for source, ended in connection.execute(query) if ended}

    def times(self, *, until: datetime, ttl: timedelta) -> tuple[datetime, ...]:
        """The latest times, of each kind and none after *until*, at which anything was done.

        Runs, generations, taking a lease, and prolonging one by *ttl*.
        """
        done = (run.c.started_at, run.c.finished_at, generation.c.as_of, lease_start.c.acquired_at)
        kinds = [(lease.c.expires_at, ttl), *((column, timedelta()) for column in done)]
        found = (sa.select(sa.func.max(at)).where(at <= (until + later).isoformat()) for at, later in kinds)
        with self._reading.connect() as connection:
            latest = connection.execute(sa.select(*(query.scalar_subquery() for query in found))).one()
        pairs = zip(latest, kinds, strict=True)
        return tuple(datetime.fromisoformat(at) - later for at, (_, later) in pairs if at)

    def recent(self, *, limit: int) -> tuple[RunRow, ...]:
        """The runs that began last, newest first."""
        query = sa.select(run).order_by(run.c.started_at.desc(), run.c.run_id.desc()).limit(limit)
        with self._reading.connect() as connection:
            rows = [dict(row._mapping) for row in connection.execute(query)]
        return tuple(
            RunRow(**{**row, "report": json.loads(row["report"]) if row["report"] else None}) for row in rows
        )

    def add_problems(self, run_id: str, problems: Collection[Problem]) -> None:
        """Record problems of a run; equal ones once."""
        rows = [
            {"run_id": run_id, "sha256": record_sha256(to_record(p)), "url": p.url, "reason": p.reason}
            for p in problems
        ]
        with self._engine.begin() as connection:
            insert_new(connection, problem, rows)

    def problems(self, run_id: str) -> tuple[Problem, ...]:
        """Problems of a run, ordered by URL and reason."""
        query = (
            sa.select(problem.c.url, problem.c.reason)
            .where(problem.c.run_id == run_id)
            .order_by(problem.c.url, problem.c.reason)
        )
        with self._reading.connect() as connection:
            return tuple(Problem(url=row.url, reason=row.reason) for row in connection.execute(query))
