"""Sources, runs and health: what an index was made of, how fresh it is, what went wrong."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from indexes.layout import IndexLayout
from indexes.publish.generation import load_generation
from indexes.wiring import Readers
from schemas.changes import FeedChange, FeedKind
from schemas.documents import Ancestor, DocumentState, KnownDocument, RunRow, reason_of_run, state_of_run
from schemas.records import show_as
from schemas.report import FreshnessState, judge_freshness
from sitegraph.actions.archive import LedgerArchive, Past


def describe_sources(
    *,
    states: Mapping[str, Mapping[str, int]],
    rows: Mapping[str, Mapping[str, Any]],
    runs: Mapping[str, Mapping[str, Any]],
    under_way: Collection[str],
) -> dict[str, Any]:
    """Return each source by its name: documents by state, rows that readers see, and its last run.

    Args: runs: the last reports by source. under_way: names of leases that somebody holds.
    """
    return {
        name: {
            "documents": dict(states.get(name, {})),
            "rows": rows.get(name, {}),
            "last_run": last_run(runs.get(name), under_way=f"source:{name}" in under_way),
        }
        for name in source_names(states, rows, runs)
    }


def source_names(
    states: Collection[str], rows: Collection[str], runs: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return, in order, the sources of an index: with documents, with rows, or with a run that went wrong.

    Args: runs: the last reports by source.
    """
    return tuple(sorted({*states, *rows, *_unfinished(runs)} - {""}))


def _unfinished(runs: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Sources whose last run says why there is nothing of them; one that was dropped is no news."""
    return {name for name, run in runs.items() if run["state"] != "finished"}


def last_run(run: Mapping[str, Any] | None, *, under_way: bool) -> dict[str, Any] | None:
    """What a person asks of the last run of a source; one that ended without closing was interrupted."""
    if run is None:
        return None
    report = run["report"] or {}
    return {
        "state": state_of_run(run["state"], under_way=under_way),
        "started_at": run["started_at"],
        "finished_at": run["finished_at"],
        "generation": report.get("generation"),
        "reason": reason_of_run(run["state"], report, under_way=under_way),
        "cost": report.get("cost"),
        "problems": len(problems := report.get("problems", [])),
        "problem_list": problems,
    }


def group_problems(problems: Iterable[Mapping[str, str]]) -> list[tuple[str, list[str]]]:
    """Return URLs by the reason of their problem, the commonest first."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for problem in problems:
        by_reason[problem["reason"]].append(problem["url"])
    return sorted(by_reason.items(), key=lambda kind: (-len(kind[1]), kind[0]))


GENERATIONS_MAX, RUNS_MAX, DOCUMENTS_MAX, KINDS_MAX, URLS_MAX = 30, 30, 50, 20, 5

TROUBLED = (DocumentState.QUARANTINED, DocumentState.FAILED, DocumentState.MISSING)
"""States of which a person may want to know each document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedGeneration:
    """A generation, and how many documents and passages it changed, by change; None: kept no longer."""

    of: Ancestor
    documents: Mapping[FeedChange, int] | None
    chunks: Mapping[FeedChange, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run; what it cost is None where no report says. `state` is `interrupted` if nobody goes on with it.

    `seconds` are those of the whole run, `bytes` what it received, `memory` MiB at its peak, `cpu` seconds of
    processors by cause, the dearest first, `touched` chunks written or removed, of those `there` afterwards.
    """

    run_id: str
    source: str
    state: str
    started_at: str
    finished_at: str | None
    generation: int | None
    reason: str | None
    seconds: float | None
    requests: int | None
    bytes: int | None
    embedded: int | None
    memory: float | None
    cpu: Mapping[str, float]
    touched: int | None
    there: int | None
    problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKind:
    """A reason, how many documents it kept out, and the first of them."""

    reason: str
    count: int
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHealth:
    """A source: documents by state, how many are due, the last look at any, problems of its last run."""

    name: str
    states: Mapping[str, int]
    due: int
    freshness: FreshnessState
    checked_at: str | None
    last: RunSummary | None
    problems: tuple[ProblemKind, ...]
    more_problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsAndHealth:
    """All of it, newest first; `troubled` are the first documents of states that somebody should see."""

    generations: tuple[PublishedGeneration, ...]
    sources: tuple[SourceHealth, ...]
    runs: tuple[RunSummary, ...]
    troubled: tuple[KnownDocument, ...]
    troubled_total: int


def read_health(readers: Readers, archive: LedgerArchive) -> RunsAndHealth | None:
    """Return what the ledger tells of runs and sources; None where it cannot be read."""

    def ask(past: Past) -> RunsAndHealth:
        published = load_generation(IndexLayout(readers.index), readers.generation).sources
        return _health(past, published, now=archive.now())

    return archive.past(readers, ask)


def run_of(row: RunRow, *, under_way: frozenset[str]) -> RunSummary:
    """Return a run as its row and report tell it; *under_way* are sources whose lease somebody holds."""
    report = row.report or {}
    stages, http = report.get("stages"), report.get("http", {})
    goes_on = row.source in under_way
    cost = report.get("cost", {})
    chunks = cost.get("rows", {}).get("chunks", {})
    return show_as(
        RunSummary,
        row,
        state=state_of_run(row.state, under_way=goes_on),
        generation=report.get("generation"),
        reason=reason_of_run(row.state, report, under_way=goes_on) or report.get("guard"),
        seconds=sum(stages.values()) if stages else _seconds(row.started_at, row.finished_at),
        requests=http.get("requests"),
        bytes=http.get("bytes"),
        embedded=report.get("chunks", {}).get("embedded"),
        memory=report.get("peak_rss_mb", {}).get("sum"),
        cpu=_by_cause(cost),
        touched=chunks.get("touched"),
        there=chunks.get("there"),
        problems=len(report.get("problems", ())),
    )


def _by_cause(cost: Mapping[str, Any]) -> Mapping[str, float]:
    causes = cost.get("causes", {}).items()
    return {name: spent["cpu"] for name, spent in sorted(causes, key=lambda one: -one[1]["cpu"])}


def kinds_of_problems(report: Mapping[str, Any] | None) -> tuple[ProblemKind, ...]:
    """Return the problems of a report by reason, the commonest first."""
    return tuple(
        ProblemKind(reason=reason, count=len(urls), urls=tuple(urls[:URLS_MAX]))
        for reason, urls in group_problems((report or {}).get("problems", ()))
    )


def _health(past: Past, published: Collection[str], *, now: str) -> RunsAndHealth:
    ledger = past.ledger
    rows = ledger.runs.recent(limit=RUNS_MAX)
    leases = ledger.leases.held(now=now)
    under_way = frozenset(name.removeprefix("source:") for name in leases if name.startswith("source:"))
    states = ledger.documents.states()
    troubled = [sum(found.get(state, 0) for state in TROUBLED) for found in states.values()]
    return RunsAndHealth(
        generations=_generations(past, past.line[:GENERATIONS_MAX]),
        sources=_sources(past, states, published, under_way, now=now),
        runs=tuple(run_of(row, under_way=under_way) for row in rows),
        troubled=ledger.documents.in_states(TROUBLED, limit=DOCUMENTS_MAX),
        troubled_total=sum(troubled),
    )


def _generations(past: Past, line: Sequence[Ancestor]) -> tuple[PublishedGeneration, ...]:
    counts = past.ledger.lineage.counts([one.generation for one in line])

    def of_kind(one: Ancestor, kind: FeedKind) -> Mapping[FeedChange, int] | None:
        if not one.changes_kept:
            return None
        found = counts.get(one.generation, {})
        return {change: found[kind, change] for change in FeedChange if (kind, change) in found}

    return tuple(
        PublishedGeneration(
            of=one, documents=of_kind(one, FeedKind.DOCUMENT), chunks=of_kind(one, FeedKind.CHUNK)
        )
        for one in line
    )


def _sources(
    past: Past,
    states: Mapping[str, Mapping[str, int]],
    published: Collection[str],
    under_way: frozenset[str],
    *,
    now: str,
) -> tuple[SourceHealth, ...]:
    last = past.ledger.runs.latest_reports()
    due, looked_at = past.ledger.health.due(now), past.ledger.documents.looked_at()
    sources = past.ledger.sources.all()
    ended = past.ledger.runs.last_finished()
    found = []
    for name in source_names(states, published, last):
        run = last.get(name)
        problems = kinds_of_problems(run["report"] if run else None)
        slo = sources[name].freshness.slo if name in sources else None
        found.append(
            SourceHealth(
                name=name,
                states=dict(sorted(Counter(states.get(name, {})).items())),
                due=due.get(name, 0),
                freshness=judge_freshness(slo, as_of=ended.get(name), now=datetime.fromisoformat(now)),
                checked_at=looked_at.get(name),
                last=run_of(RunRow(run_id="", source=name, **run), under_way=under_way) if run else None,
                problems=problems[:KINDS_MAX],
                more_problems=len(problems[KINDS_MAX:]),
            )
        )
    return tuple(found)


def _seconds(started_at: str, finished_at: str | None) -> float | None:
    if finished_at is None:
        return None
    return (datetime.fromisoformat(finished_at) - datetime.fromisoformat(started_at)).total_seconds()
