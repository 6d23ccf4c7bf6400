"""Step 2: bytes of a batch of documents into the raw store, their state into the ledger."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from flows.crawl.frontier import enqueue_targets
from flows.run.fragments import is_parsed
from flows.run.pipeline import Pipeline
from ingest.diff.lifecycle import after_fetch
from ingest.diff.summary import summarise_states
from ingest.diff.validators import is_conditional, needs_proof, trusts_validators
from ingest.plan.frontier import plan_redirect, redirects_outside
from ingest.plan.schedule import wants_full_fetch
from ingest.sources.registry import kind_named
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import Stopped
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.history import FetchAttempt

_log = logging.getLogger(__name__)


def fetch_batch(pipeline: Pipeline, uris: Sequence[str]) -> int:
    """FetchAttempt at the documents and record what came of it; give how many were looked at.

    What was fetched before a stop or a failure is recorded all the same.
    """
    rows = pipeline.index.ledger.documents.get(pipeline.source.name, uris)
    known = {uri: rows[uri] for uri in uris if uri in rows}  # in the order that was planned
    seen: dict[str, KnownDocument] = {}
    attempts: dict[str, FetchAttempt] = {}
    try:
        _ask(pipeline, known, seen, attempts)
    finally:
        _save(pipeline, tuple(seen.values()), attempts)
        _log.info("fetched %d of %d: %s", len(seen), len(known), summarise_states(seen.values()))
    pipeline.crash_point("ledger.after_fetch")
    if pipeline.stop.is_set():
        raise Stopped("stopped; run again to go on", subject=pipeline.source.name)
    return len(seen)


def _ask(
    pipeline: Pipeline,
    known: Mapping[str, KnownDocument],
    seen: dict[str, KnownDocument],
    attempts: dict[str, FetchAttempt],
) -> None:
    """Ask for all, and once more where earlier answers may have hidden what came now."""
    distrusted = pipeline.index.ledger.hosts.distrusted()
    asked = {uri: _request(pipeline, document, distrusted) for uri, document in known.items()}

    def on_result(result: FetchResult) -> None:
        conditional = is_conditional(asked[result.url])
        seen[result.url] = _record(pipeline, known[result.url], result, conditional=conditional)
        attempts[result.url] = FetchAttempt(conditional=conditional, bytes=result.bytes)

    _fetch(pipeline, list(asked.values()), on_result)
    _prove(pipeline, asked, known, seen)


def _prove(
    pipeline: Pipeline,
    asked: Mapping[str, FetchRequest],
    known: Mapping[str, KnownDocument],
    seen: dict[str, KnownDocument],
) -> None:
    """Show the old validators where earlier 304s may have hidden what came now: another 304 is a lie."""
    doubtful = [
        FetchRequest(url=before.uri, etag=before.etag, last_modified=before.last_modified)
        for uri, before in known.items()
        if needs_proof(before, seen[uri], conditional=is_conditional(asked[uri]))
    ]

    def on_result(result: FetchResult) -> None:
        if result.status is FetchStatus.NOT_MODIFIED:
            seen[result.url] = replace(seen[result.url], denied=True)

    _fetch(pipeline, doubtful, on_result)


def _fetch(
    pipeline: Pipeline, requests: Sequence[FetchRequest], on_result: Callable[[FetchResult], None]
) -> None:
    unasked = []
    for request in requests:
        if answer := pipeline.answers.pop(request.url, None):
            on_result(answer)
        else:
            unasked.append(request)
    if unasked:
        pipeline.opened_source.fetch(unasked, on_result=on_result, should_stop=pipeline.stop.is_set)


def _request(pipeline: Pipeline, known: KnownDocument, distrusted: Collection[str]) -> FetchRequest:
    """Ask conditionally only where a 304 would be of use: believed, the bytes here and young enough."""
    plain = FetchRequest(url=known.uri)
    asked = replace(plain, etag=known.etag, last_modified=known.last_modified)
    if not is_conditional(asked):
        return plain
    recrawl, now = pipeline.source.recrawl, pipeline.index.clock.now()
    held = known.raw_sha is not None and pipeline.index.raw.has(known.raw_sha)
    held = held or (known.is_withheld and is_parsed(pipeline, known))
    usable = held or known.state is DocumentState.UNSUPPORTED
    if usable and kind_named(pipeline.source.kind).proves_content:
        return asked
    old = wants_full_fetch(known.fetched_at, now=now, recrawl=recrawl)
    if not usable or old or not trusts_validators(known, distrusted=distrusted):
        return plain
    return asked


def _record(
    pipeline: Pipeline, known: KnownDocument, result: FetchResult, *, conditional: bool
) -> KnownDocument:
    pipeline.crash_point("fetch.received")
    raw_sha = pipeline.index.raw.put(result.body) if result.body is not None else None
    pipeline.progress.advance("fetch")
    return after_fetch(
        known,
        result,
        raw_sha=raw_sha,
        run_id=pipeline.run_id,
        now=pipeline.index.clock.now(),
        gone_after=pipeline.source.recrawl.gone_after,
        conditional=conditional,
    )


def _save(pipeline: Pipeline, seen: Sequence[KnownDocument], attempts: Mapping[str, FetchAttempt]) -> None:
    ledger, source = pipeline.index.ledger, pipeline.source
    enqueue_targets(pipeline, seen, partial(plan_redirect, source), attempts=attempts)
    ledger.runs.add_problems(pipeline.run_id, redirects_outside(source, seen))
