"""Step 10: what the run did, as a report, in the ledger."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from flows.run.pipeline import Pipeline
from flows.run.problems import problems_of
from flows.run.stages import Stages
from flows.run.work import Difference, Work
from indexes.publish.generation import GenerationManifest, load_generation
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.seen import SeenDocument
from ingest.diff.lifecycle import missing_until
from ingest.plan.lastmod import judge_claim
from ingest.plan.schedule import next_due, next_interval, retry_wait
from runtime.memory import largest_child_mb, peak_rss_mb
from schemas.changes import ChangeKind, Counts, add_counts
from schemas.documents import DocumentState
from schemas.records import to_record
from schemas.report import (
    ChunkCounts,
    HttpTotals,
    MissingCounts,
    NameCounts,
    PageCounts,
    PeakRss,
    RunReport,
    SimilarCounts,
    headline,
)

_log = logging.getLogger(__name__)


def record_run(pipeline: Pipeline, work: Work, stages: Stages) -> RunReport:
    """Reschedule what was looked at, and record the report in the ledger."""
    with stages.timed("report"):
        seen = pipeline.index.ledger.seen.of_run(pipeline.source.name, pipeline.run_id)
        reschedule(pipeline, seen, work.difference)
    report = build_report(pipeline, work, stages.seconds, seen)
    record = to_record(report)
    pipeline.index.ledger.runs.finish(
        pipeline.run_id, state="finished", now=pipeline.index.now(), report=record
    )
    pipeline.index.ledger.stops.forget_ended()
    _log.info("%s", headline(report))
    return report


def build_report(
    pipeline: Pipeline, work: Work, stages: Mapping[str, float], seen: Sequence[SeenDocument]
) -> RunReport:
    """Gather what the run did; a resumed run also reports the generation it had begun before."""
    manifest = load_generation(pipeline.index.layout, pipeline.index.current())
    counts = manifest.sources.get(pipeline.source.name, {})
    made = _published_by(pipeline)
    details = made[-1].details if made else {}
    return RunReport(
        source=pipeline.source.name,
        run_id=pipeline.run_id,
        generation=made[-1].generation if made else None,
        published=bool(made),
        documents=details.get("documents", work.difference.documents),
        chunks=_chunk_counts(
            details, total=sum(counts.get("chunks", {}).values()), encoded=_encoded(pipeline)
        ),
        nodes=add_counts(_of_nobody(manifest), counts).get("nodes", {}),
        edges=dict(counts.get("edges", {})),
        http=_http(pipeline),
        stages={name: round(seconds, 3) for name, seconds in stages.items()},
        peak_rss_mb=_peak_rss(pipeline),
        missing=_missing_counts(pipeline, seen),
        secrets=pipeline.index.ledger.seen.secrets(pipeline.source.name),
        similar=_similar_counts(details),
        names=NameCounts(**details.get("names", {})),
        pdf_pages=_page_counts(pipeline),
        guard=work.difference.guard,
        problems=problems_of(pipeline, seen),
    )


def _of_nobody(manifest: GenerationManifest) -> Counts:
    """Rows that belong to no source: the entities of the whole index."""
    return manifest.sources.get("", {})


def _published_by(pipeline: Pipeline) -> list[Generation]:
    made = pipeline.index.ledger.generations.of_run(pipeline.run_id)
    return [generation for generation in made if generation.state is GenerationState.PUBLISHED]


def _encoded(pipeline: Pipeline) -> int:
    """Texts of a run without a generation: what is parsed is encoded before it is known to be of use."""
    return pipeline.encoding.encoded if "encoding" in pipeline.__dict__ else 0


def _chunk_counts(details: Mapping[str, Any], *, total: int, encoded: int) -> ChunkCounts:
    changed = details.get("chunks", {})
    added = changed.get("added", 0)
    return ChunkCounts(
        added=added,
        removed=changed.get("removed", 0),
        unchanged=total - added,
        embedded=details.get("embedded", encoded),
    )


def _missing_counts(pipeline: Pipeline, seen: Sequence[SeenDocument]) -> MissingCounts:
    """Count those that readers see; where a dead link leads there is nothing to keep."""
    uris = [document.uri for document in seen if document.state is DocumentState.MISSING]
    found = pipeline.index.ledger.lookup.by_uris(uris)
    kept = [d for d in found if d.source == pipeline.source.name and d.fragment_sha is not None]
    until = missing_until(kept, pipeline.source.recrawl.gone_after)
    return MissingCounts(documents=len(kept), until=until.isoformat(timespec="seconds") if until else None)


def _similar_counts(details: Mapping[str, Any]) -> SimilarCounts:
    counts = details.get("similar", {})
    return SimilarCounts(**{f.name: counts.get(f.name, 0) for f in fields(SimilarCounts)})


def reschedule(pipeline: Pipeline, seen: Sequence[SeenDocument], difference: Difference) -> None:
    """Return every document that was looked at its next due time."""
    changed = {c.doc for c in difference.changes if c.kind in (ChangeKind.ADDED, ChangeKind.CHANGED)}
    rows = [_rescheduled(pipeline, document, document.doc in changed) for document in seen]
    pipeline.index.ledger.seen.reschedule(pipeline.source.name, rows)


def _rescheduled(pipeline: Pipeline, document: SeenDocument, changed: bool) -> SeenDocument:
    interval, recrawl = document.interval, pipeline.source.recrawl
    wait = retry_wait(document.state, failures=document.failures, interval=interval, recrawl=recrawl)
    if wait is None:
        wait = interval = next_interval(interval, changed=changed, recrawl=recrawl)
    checked_at = (
        datetime.fromisoformat(document.checked_at) if document.checked_at else pipeline.index.clock.now()
    )
    due = next_due(document.uri, checked_at=checked_at, interval=wait)
    held = judge_claim(document.lastmod, document.lastmod_then, document.lastmod_held, changed=changed)
    return replace(
        document,
        interval=interval,
        next_due=due.isoformat(timespec="seconds"),
        lastmod_then=document.lastmod,
        lastmod_held=held,
    )


def _http(pipeline: Pipeline) -> HttpTotals:
    if "session" not in pipeline.__dict__:  # which only sources of the web open
        return HttpTotals()
    totals = pipeline.session.totals
    status = {str(code): number for code, number in sorted(totals.statuses.items())}
    return HttpTotals(requests=totals.requests, status=status, bytes=totals.bytes)


def _peak_rss(pipeline: Pipeline) -> PeakRss:
    flow, child = peak_rss_mb(), largest_child_mb(_reported(pipeline))
    return PeakRss(flow=round(flow, 1), largest_child=round(child, 1), sum=round(flow + child, 1))


def _reported(pipeline: Pipeline) -> tuple[float, ...]:
    return (pipeline.parsers.peak_rss_mb,) if "parsers" in pipeline.__dict__ else ()


def _page_counts(pipeline: Pipeline) -> PageCounts:
    return pipeline.parsers.page_counts if "parsers" in pipeline.__dict__ else PageCounts()
