"""Step 10: what the run did, as a report, in the ledger and as Prefect artifacts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from flows.memory import largest_child_mb, peak_rss_mb
from flows.wiring import Pipeline
from flows.work import Difference, Work
from indexes.publish.generation import GenerationManifest, load_generation
from indexes.stores.ledger.generations import Generation, GenerationState
from indexes.stores.ledger.seen import SeenDocument
from indexes.stores.ledger.stops import KEPT
from ingest.diff.lifecycle import missing_until
from ingest.plan.lastmod import judge_claim
from ingest.plan.schedule import next_due, next_interval, retry_wait
from ingest.plan.traps import redirect_rings
from schemas.changes import ChangeKind, Counts, DocumentChange, add_counts
from schemas.documents import DocumentState
from schemas.records import to_record
from schemas.redaction import one_line
from schemas.report import (
    ChunkCounts,
    HttpTotals,
    MissingCounts,
    NameCounts,
    PageCounts,
    PeakRss,
    Problem,
    RunReport,
    SimilarCounts,
)
from schemas.source import SourceKind

MAX_ROWS = 500
"""Table artifacts are shown by a browser; longer ones are cut and say so."""


def report_run(pipeline: Pipeline, work: Work, stages: Mapping[str, float]) -> RunReport:
    """Reschedule what was looked at, record the report, and show it."""
    seen = pipeline.index.ledger.seen.of_run(pipeline.source.name, pipeline.run_id)
    reschedule(pipeline, seen, work.difference)
    report = build_report(pipeline, work, stages, seen)
    record = to_record(report)
    pipeline.index.ledger.runs.finish(
        pipeline.run_id, state="finished", now=pipeline.index.now(), report=record
    )
    pipeline.index.ledger.stops.forget_ended()
    publish_artifacts(report, work.difference.changes if work.generation else ())
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
    """Give every document that was looked at its next due time."""
    changed = {c.doc for c in difference.changes if c.kind in (ChangeKind.ADDED, ChangeKind.CHANGED)}
    rows = [_rescheduled(pipeline, document, document.doc in changed) for document in seen]
    pipeline.index.ledger.seen.reschedule(pipeline.source.name, rows)


def publish_artifacts(report: RunReport, changes: Sequence[DocumentChange]) -> None:
    """Show the report to whoever watches the flow run."""
    key = f"sitegraph-{report.source}".lower().replace("_", "-").replace(".", "-")
    create_markdown_artifact(markdown=_markdown(report), key=key, description="What the run did")
    if changes:
        changed = [{"url": c.uri, "change": c.kind.value, "reason": c.reason} for c in changes]
        create_table_artifact(table=_cut(changed), key=f"{key}-changed", description="What changed and why")
    if report.problems:
        rows = [to_record(problem) for problem in report.problems]
        create_table_artifact(table=_cut(rows), key=f"{key}-problems", description="What failed and why")


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
    if pipeline.source.kind is SourceKind.FILES:
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


def problems_of(pipeline: Pipeline, seen: Sequence[SeenDocument]) -> tuple[Problem, ...]:
    """Documents that could not be used, and each reason that stopped others, by URL and reason."""
    ledger = pipeline.index.ledger
    troubled = ("failed", "missing", "disallowed", "quarantined")
    failed = {
        Problem(url=d.uri, reason=f"{d.state.value}: {d.reason}" if d.reason else d.state.value)
        for d in seen
        if d.state.value in troubled
    }
    told = {
        Problem(url=one_line(problem.url), reason=one_line(problem.reason))
        for problem in {*failed, *_stopped(pipeline, seen), *ledger.runs.problems(pipeline.run_id)}
    }
    return tuple(sorted(told, key=lambda problem: (problem.url, problem.reason)))


def _stopped(pipeline: Pipeline, seen: Sequence[SeenDocument]) -> Iterator[Problem]:
    """One line for all documents that one reason stopped, so that a trap does not drown the rest."""
    for count in pipeline.index.ledger.stops.counts(pipeline.run_id):
        yield _not_followed(count.reason, count.documents, count.example)
    rings = redirect_rings({d.uri: d.location for d in seen if d.location is not None})
    if rings:
        yield _not_followed("redirects lead back to where they began", len(rings), rings[0])


def _not_followed(reason: str, documents: int, example: str) -> Problem:
    number = f"at least {KEPT}" if documents >= KEPT else str(documents)
    return Problem(url=example, reason=f"{reason}; documents not followed: {number}, such as this one")


def _markdown(report: RunReport) -> str:
    documents = "\n".join(f"| {name} | {number} |" for name, number in report.documents.items() if number)
    stages = "\n".join(f"| {name} | {seconds:.1f} |" for name, seconds in report.stages.items())
    verdict = f"generation {report.generation}" if report.generation else "nothing changed, no generation"
    chunks, pages = report.chunks, report.pdf_pages
    return (
        f"# {report.source}: {verdict}\n\n"
        f"Chunks: {chunks.added} added, {chunks.removed} removed, {chunks.unchanged} unchanged; "
        f"{chunks.embedded} texts embedded. HTTP: {report.http.requests} requests, "
        f"{report.http.bytes} bytes. Secrets redacted: {report.secrets.values} in "
        f"{report.secrets.documents} documents. Pages of PDFs: {pages.read} read, {pages.recognised} of them "
        f"recognised, {pages.reused} reused.\n\n"
        f"| documents | |\n|---|---|\n{documents}\n\n| stage | seconds |\n|---|---|\n{stages}\n"
    )


def _cut(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    table = [
        {key: one_line(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows[:MAX_ROWS]
    ]
    if len(rows) > MAX_ROWS:
        first = next(iter(table[0]))
        table.append({**dict.fromkeys(table[0], ""), first: f"… and {len(rows) - MAX_ROWS} more"})
    return table
