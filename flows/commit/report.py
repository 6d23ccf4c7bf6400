"""What the run did and what it cost, as a report, in the ledger."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from flows.commit.check import counts_of_run
from flows.run.account import freshness_of, problems_of
from flows.run.completeness import measure_completeness
from flows.run.contexts import IndexContext
from flows.run.values import Crawled, Difference
from indexes.publish.generation import GenerationManifest, load_generation
from indexes.stores.ledger.frontier import SeenDocument
from indexes.stores.ledger.generations import Generation, GenerationState
from ingest.diff.lifecycle import missing_until
from ingest.plan.schedule import judge_claim, missing_due, next_due, next_interval, retry_wait
from runtime.cost import METER
from runtime.logins import login_state
from runtime.readings import largest_child_mb, peak_rss_mb
from schemas.changes import ChangeKind, Counts, add_counts
from schemas.cost import CostAccount, Costs, RowsTouched, Spent, settle, total_of
from schemas.documents import DocumentState
from schemas.nodes import NodeKind
from schemas.records import to_record
from schemas.report import (
    ChunkCounts,
    FreshnessState,
    MissingCounts,
    NameCounts,
    PeakRss,
    RunReport,
    SimilarCounts,
    headline,
)
from schemas.source import Recrawl

TABLES = ("documents", "nodes", "edges", "chunks")
MILLISECONDS = 3

_DOCUMENTS = (NodeKind.PAGE, NodeKind.PDF_DOC)


def account_of(costs: Costs, totals: Mapping[str, Mapping[str, int]]) -> CostAccount:
    """Account for *costs*; *totals* counts what readers see of each table, by kind."""
    causes = {cause: _rounded(spent) for cause, spent in settle(costs).items()}
    there = {table: sum(kinds.values()) for table, kinds in totals.items()}
    nodes = totals.get("nodes", {})
    there["documents"] = sum(nodes.get(kind.value, 0) for kind in _DOCUMENTS)
    return CostAccount(
        total=_rounded(total_of(causes)),
        causes=causes,
        rows={
            table: RowsTouched(touched=costs.rows.get(table, 0), there=there.get(table, 0))
            for table in TABLES
        },
    )


def _rounded(spent: Spent) -> Spent:
    return Spent(cpu=round(spent.cpu, MILLISECONDS), read=spent.read, written=spent.written)


_log = logging.getLogger(__name__)


def record_run(
    run: IndexContext,
    difference: Difference,
    crawled: Crawled,
    *,
    seconds: Mapping[str, float],
    began: float,
    costs: Costs,
    encoded: int,
) -> RunReport:
    """Reschedule what was looked at, and record the report in the ledger.

    *seconds* are those of the stages until now, *began* is when the report's did, in the clock's seconds;
    *costs* are those of the process before the run;
    *encoded* is how many texts were encoded, for a run that makes no generation.
    """
    seen = run.index.ledger.seen.of_run(run.source.name, run.run_id)
    reschedule(run, seen, difference)
    stages = {**seconds, "report": run.index.clock.monotonic() - began}
    report = build_run_report(run, difference, crawled, seen, stages=stages, costs=costs, encoded=encoded)
    record = to_record(report)
    run.index.ledger.runs.finish(run.run_id, state="finished", now=run.index.now(), report=record)
    run.index.ledger.stops.forget_ended()
    _log.info("%s", headline(report))
    return report


def build_run_report(
    run: IndexContext,
    difference: Difference,
    crawled: Crawled,
    seen: Sequence[SeenDocument],
    *,
    stages: Mapping[str, float],
    costs: Costs,
    encoded: int,
) -> RunReport:
    """Gather what the run did; a resumed run also reports the generation it had begun before."""
    manifest = load_generation(run.index.layout, run.index.current())
    counts = manifest.sources.get(run.source.name, {})
    made = _published_by(run)
    details = made[-1].details if made else {}
    return RunReport(
        source=run.source.name,
        run_id=run.run_id,
        generation=made[-1].generation if made else None,
        published=bool(made),
        documents=details.get("documents", difference.documents),
        chunks=_chunk_counts(details, total=sum(counts.get("chunks", {}).values()), encoded=encoded),
        nodes=add_counts(_of_nobody(manifest), counts).get("nodes", {}),
        edges=dict(counts.get("edges", {})),
        http=crawled.http,
        stages={name: round(seconds, 3) for name, seconds in stages.items()},
        peak_rss_mb=_peak_rss(crawled),
        missing=_missing_counts(run),
        secrets=run.index.ledger.seen.secrets(run.source.name),
        similar=_similar_counts(details),
        names=NameCounts(**details.get("names", {})),
        pdf_pages=crawled.pages,
        freshness=_freshness_before(run),
        cost=account_of(METER.read() - costs, manifest.totals()),
        checks=counts_of_run(run.index, run.run_id),
        login=login_state(run.source, now=run.index.clock.now()),
        completeness=measure_completeness(run.index, run.source),
        guard=difference.guard,
        problems=problems_of(run, seen),
    )


def _freshness_before(run: IndexContext) -> FreshnessState:
    """How fresh the source had been; before its first run there was nothing that could have grown old."""
    state = freshness_of(run.index, run.source.name, slo=run.source.freshness.slo)
    return state if state.as_of else replace(state, stale=False)


def _of_nobody(manifest: GenerationManifest) -> Counts:
    """Rows that belong to no source: the entities of the whole index."""
    return manifest.sources.get("", {})


def _published_by(run: IndexContext) -> list[Generation]:
    made = run.index.ledger.generations.of_run(run.run_id)
    return [generation for generation in made if generation.state is GenerationState.PUBLISHED]


def _chunk_counts(details: Mapping[str, Any], *, total: int, encoded: int) -> ChunkCounts:
    changed = details.get("chunks", {})
    added = min(changed.get("added", 0), total)  # a run that repairs writes those of other sources, too
    return ChunkCounts(
        added=added,
        removed=changed.get("removed", 0),
        unchanged=total - added,
        embedded=details.get("embedded", encoded),
    )


def _missing_counts(run: IndexContext) -> MissingCounts:
    """Count those of the source that readers see; where a dead link leads there is nothing to keep."""
    ledger, source = run.index.ledger, run.source.name
    missing = ledger.documents.get(source, ledger.seen.missing(source))
    docs = [document.doc for document in missing.values() if document.doc]
    live = ledger.generations.live(run.index.current(), source=source, docs=docs)
    read = {document.uri for document in live.values()}
    kept = [document for document in missing.values() if document.uri in read]
    until = missing_until(kept, run.source.recrawl.gone_after)
    return MissingCounts(documents=len(kept), until=until.isoformat(timespec="seconds") if until else None)


def _similar_counts(details: Mapping[str, Any]) -> SimilarCounts:
    counts = details.get("similar", {})
    return SimilarCounts(**{f.name: counts.get(f.name, 0) for f in fields(SimilarCounts)})


def reschedule(run: IndexContext, seen: Sequence[SeenDocument], difference: Difference) -> None:
    """Return every document that was looked at its next due time."""
    changed = {c.doc for c in difference.changes if c.kind in (ChangeKind.ADDED, ChangeKind.CHANGED)}
    rows = [_rescheduled(run, document, document.doc in changed) for document in seen]
    run.index.ledger.seen.reschedule(run.source.name, rows)


def _rescheduled(run: IndexContext, document: SeenDocument, changed: bool) -> SeenDocument:
    checked_at = datetime.fromisoformat(document.checked_at) if document.checked_at else run.index.clock.now()
    interval, due = _next_look(document, run.source.recrawl, checked_at=checked_at, changed=changed)
    held = judge_claim(document.lastmod, document.lastmod_then, document.lastmod_held, changed=changed)
    return replace(
        document,
        interval=interval,
        next_due=due.isoformat(timespec="seconds"),
        lastmod_then=document.lastmod,
        lastmod_held=held,
    )


def _next_look(
    document: SeenDocument, recrawl: Recrawl, *, checked_at: datetime, changed: bool
) -> tuple[float | None, datetime]:
    """Return the interval from now on, and when to look again."""
    uri, interval = document.uri, document.interval
    if document.state is DocumentState.MISSING:
        missed_at = datetime.fromisoformat(document.missed_at) if document.missed_at else checked_at
        due = missing_due(uri, missed_at=missed_at, checked_at=checked_at, interval=interval, recrawl=recrawl)
        return interval, due
    wait = retry_wait(document.state, failures=document.failures, interval=interval, recrawl=recrawl)
    if wait is None:
        wait = interval = next_interval(interval, changed=changed, recrawl=recrawl)
    return interval, next_due(uri, checked_at=checked_at, interval=wait)


def _peak_rss(crawled: Crawled) -> PeakRss:
    flow, child = peak_rss_mb(), largest_child_mb((crawled.peak_child_mb,))
    return PeakRss(flow=round(flow, 1), largest_child=round(child, 1), sum=round(flow + child, 1))
