"""Runs of sources: what each reported, what led to the current generation, counts and times by source."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from indexes.stores.ledger.frontier import due_condition
from indexes.stores.ledger.retention import begin_crawl, end_crawl
from indexes.stores.ledger.revisions import valid_at
from indexes.stores.ledger.tables import (
    LedgerPart,
    change,
    doc_rev,
    document,
    feed,
    former_text,
    generation,
    history,
    lease,
    lease_start,
    problem,
    run,
    select_among,
)
from schemas.changes import FeedChange, FeedEntry, FeedKind
from schemas.documents import ASLEEP, READABLE, Ancestor, DocumentState, RunRow
from schemas.ids import record_sha256
from schemas.records import from_record, to_record
from schemas.report import Problem


class Runs(LedgerPart):
    """The `run` and `problem` tables."""

    def interrupted(self, source: str, *, since: str) -> str | None:
        """The run of the source, begun at *since* or later, that never finished: it goes on under its id."""
        query = (
            sa.select(run.c.run_id)
            .where(run.c.source == source, run.c.state == "running", run.c.started_at >= since)
            .order_by(run.c.started_at.desc())
        )
        return self._value(query)

    def is_known(self, run_id: str) -> bool:
        """Whether a run of this id was ever opened."""
        return bool(self._value(sa.select(sa.exists().where(run.c.run_id == run_id))))

    def resume(self, source: str) -> None:
        """Say that an interrupted run of the source goes on: it may have left files that nothing names."""
        with self._engine.begin() as connection:
            begin_crawl(connection, source, again=True)

    def start(self, run_id: str, *, source: str, now: str) -> None:
        """Open a run."""
        with self._engine.begin() as connection:
            begin_crawl(connection, source, again=False)
            connection.execute(
                sa.insert(run).values(run_id=run_id, source=source, state="running", started_at=now)
            )

    def finish(self, run_id: str, *, state: str, now: str, report: Mapping[str, Any] | None) -> None:
        """Close a run with its report; *state* is `finished` or `refused`, whose report says why."""
        values = {"state": state, "finished_at": now, "report": json.dumps(report) if report else None}
        with self._engine.begin() as connection:
            connection.execute(sa.update(run).where(run.c.run_id == run_id).values(**values))
            end_crawl(connection, sa.select(run.c.source).where(run.c.run_id == run_id).scalar_subquery())

    def note(self, run_id: str, report: Mapping[str, Any]) -> None:
        """Say why a run ended that the next one goes on with; it stays open.

        Nothing is said of one that is closed: another process has gone on with it, to its end.
        """
        mine = (run.c.run_id == run_id, run.c.state == "running")
        self._run(sa.update(run).where(*mine).values(report=json.dumps(report)))

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
        return {
            row.source: {name: value for name, value in _decoded(row).items() if name in _TOLD}
            for row in self._rows(query)
        }

    def last_finished(self) -> Mapping[str, str]:
        """When the last run of each source that ended well did so, whether it published anything or not."""
        query = (
            sa.select(run.c.source, sa.func.max(run.c.finished_at))
            .where(run.c.state == "finished")
            .group_by(run.c.source)
        )
        return {source: str(ended) for source, ended in self._rows(query) if ended}

    def last_good_report(self, source: str) -> Mapping[str, Any]:
        """The report of the last run of a source that ended well; empty where none did."""
        query = (
            sa.select(run.c.report)
            .where(run.c.source == source, run.c.state == "finished", run.c.report.is_not(None))
            .order_by(run.c.finished_at.desc(), run.c.run_id.desc())
        )
        report = self._value(query.limit(1))
        return json.loads(report) if report else {}

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
        return tuple(RunRow(**_decoded(row)) for row in self._rows(query))

    def add_problems(self, run_id: str, problems: Collection[Problem]) -> None:
        """Record problems of a run; equal ones once."""
        rows = [
            {"run_id": run_id, "sha256": record_sha256(to_record(p)), "url": p.url, "reason": p.reason}
            for p in problems
        ]
        self._insert_new(problem, rows)

    def problems(self, run_id: str) -> tuple[Problem, ...]:
        """Problems of a run, ordered by URL and reason."""
        query = (
            sa.select(problem.c.url, problem.c.reason)
            .where(problem.c.run_id == run_id)
            .order_by(problem.c.url, problem.c.reason)
        )
        return tuple(Problem(url=row.url, reason=row.reason) for row in self._rows(query))


_TOLD = frozenset({"state", "started_at", "finished_at", "report"})


def _decoded(row: sa.Row[Any]) -> dict[str, Any]:
    return {**row._mapping, "report": json.loads(row.report) if row.report else None}


_SECONDS = len("2026-01-05T00:00:00")
"""Length of a time in the ledger up to its seconds; whatever follows says UTC."""


class LedgerHealth(LedgerPart):
    """Questions of those who watch an index; each is one statement."""

    def confirmed(self, generation: int) -> Mapping[str, tuple[tuple[str, int], ...]]:
        """When what *generation* contains was last confirmed by its source: time and documents, oldest first.

        Confirmed is what the source gave again, or called unmodified; a look that failed confirms nothing,
        nor does one that brought other content, which a run may have been refused to publish. Documents that
        no look has a time of are left out.
        """
        same = sa.and_(document.c.state.in_([*READABLE]), document.c.content_hash == doc_rev.c.content_hash)
        at = sa.func.coalesce(sa.case((same, document.c.checked_at)), _seen_last(), doc_rev.c.fetched_at)
        second = sa.func.substr(at, 1, _SECONDS).label("second")
        known = sa.and_(document.c.source == doc_rev.c.source, document.c.uri == doc_rev.c.uri)
        query = (
            sa.select(doc_rev.c.source, second, sa.func.count())
            .select_from(doc_rev.outerjoin(document, known))
            .where(*valid_at(doc_rev, generation), at.is_not(None))
            .group_by(doc_rev.c.source, second)
            .order_by(doc_rev.c.source, second)
        )
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for source, time, documents in self._rows(query):
            found[source].append((f"{time}+00:00", documents))
        return {source: tuple(rows) for source, rows in found.items()}

    def due(self, now: str) -> Mapping[str, int]:
        """Documents that `run --due` would look at, by source."""
        query = (
            sa.select(document.c.source, sa.func.count().label("number"))
            .where(document.c.state.notin_([*ASLEEP]), due_condition(now))
            .group_by(document.c.source)
        )
        return {row.source: row.number for row in self._rows(query)}

    def failed(self) -> Mapping[str, Mapping[int | None, int]]:
        """Failed documents by source and HTTP status, None where nothing answered."""
        query = (
            sa.select(document.c.source, document.c.http_status, sa.func.count())
            .where(document.c.state == DocumentState.FAILED)
            .group_by(document.c.source, document.c.http_status)
        )
        found: dict[str, dict[int | None, int]] = defaultdict(dict)
        for source, status, number in self._rows(query):
            found[source][status] = number
        return found


def _seen_last() -> sa.ScalarSelect[str | None]:
    """When what readers see was last seen, of a document that has another state or content now."""
    return (
        sa.select(sa.func.max(history.c.until))
        .where(
            history.c.source == doc_rev.c.source,
            history.c.uri == doc_rev.c.uri,
            history.c.content_hash == doc_rev.c.content_hash,
            history.c.to_state.in_([*READABLE]),
        )
        .scalar_subquery()
    )


class Lineage(LedgerPart):
    """Reads `generation` and `change` backwards from a generation; what was rolled back is not on the way."""

    def of(self, number: int) -> tuple[Ancestor, ...]:
        """*number* and the generations it was built on, newest first, as far back as the ledger goes."""
        columns = [generation.c[name] for name in ("generation", "base", "as_of", "source", "run_id")]
        rows = {row.generation: row for row in self._rows(sa.select(*columns))}
        kept = frozenset(self._values(sa.select(feed.c.generation)))
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
            return {row.chunk: row.text for row in select_among(connection, query, former_text.c.chunk, ids)}

    def counts(self, generations: Collection[int]) -> Mapping[int, Mapping[tuple[FeedKind, FeedChange], int]]:
        """How many entries of each kind the feed has of each of these generations."""
        what = (change.c.generation, change.c.kind, change.c.change)
        query = sa.select(*what, sa.func.count().label("entries")).group_by(*what)
        found: dict[int, Counter[tuple[FeedKind, FeedChange]]] = {}
        for row in self._among(query, change.c.generation, generations):
            counted = found.setdefault(row.generation, Counter())
            counted[FeedKind(row.kind), FeedChange(row.change)] = row.entries
        return found

    def _entries(
        self, generations: Collection[int], *conditions: sa.ColumnElement[bool]
    ) -> tuple[FeedEntry, ...]:
        """Entries that meet any of the conditions; asked one by one, each is answered from an index."""
        wanted = frozenset(generations)
        found: dict[tuple[int, int], FeedEntry] = {}
        for condition in conditions:
            for row in self._rows(sa.select(change).where(condition)):
                fields = {name: value for name, value in row._mapping.items() if name != "seq"}
                if row.generation in wanted:
                    found[row.generation, row.seq] = from_record(FeedEntry, fields)
        return tuple(found[key] for key in sorted(found))
