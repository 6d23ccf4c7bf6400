"""Step 2: bytes of a batch of documents into the raw store, their state into the ledger."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from flows.crawl.frontier import enqueue_targets
from flows.run.contexts import CrawlContext
from flows.run.fragments import is_parsed
from ingest.diff.lifecycle import after_fetch
from ingest.diff.summary import summarise_states
from ingest.diff.validators import is_conditional, needs_proof, trusts_validators
from ingest.parse.formats.registry import formats_version
from ingest.plan.frontier import plan_redirect, redirects_outside
from ingest.plan.schedule import wants_full_fetch
from ingest.sources.registry import kind_named
from schemas.documents import DocumentState, KnownDocument
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.history import FetchAttempt

_log = logging.getLogger(__name__)


def fetch_batch(run: CrawlContext, uris: Sequence[str]) -> int:
    """Look at the documents and record what came of it; give how many were looked at.

    What was fetched before a stop or a failure is recorded all the same.
    """
    rows = run.index.ledger.documents.get(run.source.name, uris)
    known = {uri: rows[uri] for uri in uris if uri in rows}  # in the order that was planned
    seen: dict[str, KnownDocument] = {}
    attempts: dict[str, FetchAttempt] = {}
    try:
        _ask(run, known, seen, attempts)
    finally:
        _save(run, tuple(seen.values()), attempts)
        _log.info("fetched %d of %d: %s", len(seen), len(known), summarise_states(seen.values()))
    run.crash_point("ledger.after_fetch")
    run.raise_if_stopped()
    return len(seen)


def _ask(
    run: CrawlContext,
    known: Mapping[str, KnownDocument],
    seen: dict[str, KnownDocument],
    attempts: dict[str, FetchAttempt],
) -> None:
    """Ask for all, and once more where earlier answers may have hidden what came now."""
    distrusted = run.index.ledger.hosts.distrusted()
    asked = {uri: _request(run, document, distrusted) for uri, document in known.items()}

    def on_result(result: FetchResult) -> None:
        conditional = is_conditional(asked[result.url])
        seen[result.url] = _record(run, known[result.url], result, conditional=conditional)
        attempts[result.url] = FetchAttempt(conditional=conditional, bytes=result.bytes)

    _fetch(run, list(asked.values()), on_result)
    _prove(run, asked, known, seen)


def _prove(
    run: CrawlContext,
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

    _fetch(run, doubtful, on_result)


def _fetch(
    run: CrawlContext, requests: Sequence[FetchRequest], on_result: Callable[[FetchResult], None]
) -> None:
    unasked = []
    for request in requests:
        if answer := run.answers.pop(request.url, None):
            on_result(answer)
        else:
            unasked.append(request)
    if unasked:
        run.opened_source().fetch(unasked, on_result=on_result, should_stop=run.stop.is_set)


def _request(run: CrawlContext, known: KnownDocument, distrusted: Collection[str]) -> FetchRequest:
    """Ask conditionally only where a 304 would be of use: believed, the bytes here and young enough."""
    plain = FetchRequest(url=known.uri)
    asked = replace(plain, etag=known.etag, last_modified=known.last_modified)
    if not is_conditional(asked):
        return plain
    recrawl, now = run.source.recrawl, run.index.clock.now()
    held = known.raw_sha is not None and run.index.raw.has(known.raw_sha)
    held = held or (known.is_withheld and is_parsed(run, known))
    refused = known.state is DocumentState.UNSUPPORTED and known.pipeline_version == formats_version()
    usable = held or refused
    if usable and kind_named(run.source.kind).proves_content:
        return asked
    old = wants_full_fetch(known.fetched_at, now=now, recrawl=recrawl)
    if not usable or old or not trusts_validators(known, distrusted=distrusted):
        return plain
    return asked


def _record(
    run: CrawlContext, known: KnownDocument, result: FetchResult, *, conditional: bool
) -> KnownDocument:
    run.crash_point("fetch.received")
    raw_sha = run.index.raw.put(result.body) if result.body is not None else None
    run.progress.advance("fetch")
    after = after_fetch(
        known,
        result,
        raw_sha=raw_sha,
        run_id=run.run_id,
        now=run.index.clock.now(),
        gone_after=run.source.recrawl.gone_after,
        conditional=conditional,
    )
    # Another set of formats may read it: then a 304 would be no answer.
    refused = result.status is FetchStatus.UNSUPPORTED
    return replace(after, pipeline_version=formats_version()) if refused else after


def _save(run: CrawlContext, seen: Sequence[KnownDocument], attempts: Mapping[str, FetchAttempt]) -> None:
    ledger, source = run.index.ledger, run.source
    enqueue_targets(run, seen, partial(plan_redirect, source), attempts=attempts)
    ledger.runs.add_problems(run.run_id, redirects_outside(source, seen))
