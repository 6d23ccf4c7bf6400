"""Step 2: bytes of a batch of documents into the raw store, their state into the ledger."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from flows.crawl.frontier import enqueue_targets
from flows.run.fragments import is_parsed
from flows.run.pipeline import Pipeline
from ingest.diff.lifecycle import after_fetch
from ingest.diff.summary import summarise_states
from ingest.diff.validators import is_conditional, needs_proof, trusts_validators
from ingest.fetch.crawl import fetch_all
from ingest.fetch.files import read_file
from ingest.parse.formats.registry import formats_version, installed_formats
from ingest.plan.frontier import plan_redirect, redirects_outside
from ingest.plan.schedule import wants_full_fetch
from ingest.urls import file_path
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import SitegraphError, Stopped
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.formats import SizeClass, format_named
from schemas.history import FetchAttempt
from schemas.source import SizeLimits, SourceKind

_log = logging.getLogger(__name__)

MAX_FILE_BYTES = 64 * 1024 * 1024


def fetch_batch(pipeline: Pipeline, uris: Sequence[str]) -> int:
    """FetchAttempt at the documents and record what came of it; give how many were looked at.

    What was fetched before a stop or a failure is recorded all the same.
    """
    rows = pipeline.index.ledger.documents.get(pipeline.source.name, uris)
    known = {uri: rows[uri] for uri in uris if uri in rows}  # in the order that was planned
    seen: dict[str, KnownDocument] = {}
    attempts: dict[str, FetchAttempt] = {}
    try:
        if pipeline.source.kind is SourceKind.FILES:
            _read_files(pipeline, known, seen, attempts)
        else:
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
        fetch_all(unasked, session=pipeline.session, on_result=on_result, should_stop=pipeline.stop.is_set)


def _request(pipeline: Pipeline, known: KnownDocument, distrusted: Collection[str]) -> FetchRequest:
    """Ask conditionally only where a 304 would be of use: believed, the bytes here and young enough."""
    recrawl, now = pipeline.source.recrawl, pipeline.index.clock.now()
    held = known.raw_sha is not None and pipeline.index.raw.has(known.raw_sha)
    held = held or (known.is_withheld and is_parsed(pipeline, known))
    refused = known.state is DocumentState.UNSUPPORTED and known.pipeline_version == formats_version()
    usable = held or refused
    old = wants_full_fetch(known.fetched_at, now=now, recrawl=recrawl)
    if not usable or old or not trusts_validators(known, distrusted=distrusted):
        return FetchRequest(url=known.uri)
    return FetchRequest(url=known.uri, etag=known.etag, last_modified=known.last_modified)


def _record(
    pipeline: Pipeline, known: KnownDocument, result: FetchResult, *, conditional: bool
) -> KnownDocument:
    pipeline.crash_point("fetch.received")
    raw_sha = pipeline.index.raw.put(result.body) if result.body is not None else None
    pipeline.progress.advance("fetch")
    after = after_fetch(
        known,
        result,
        raw_sha=raw_sha,
        run_id=pipeline.run_id,
        now=pipeline.index.clock.now(),
        gone_after=pipeline.source.recrawl.gone_after,
        conditional=conditional,
    )
    # Another set of formats may read it: then a 304 would be no answer.
    refused = result.status is FetchStatus.UNSUPPORTED
    return replace(after, pipeline_version=formats_version()) if refused else after


def _read_files(
    pipeline: Pipeline,
    known: Mapping[str, KnownDocument],
    seen: dict[str, KnownDocument],
    attempts: dict[str, FetchAttempt],
) -> None:
    for uri, document in sorted(known.items()):
        if pipeline.stop.is_set():
            return
        result = _read(pipeline, uri)
        seen[uri] = _record(pipeline, document, result, conditional=False)
        attempts[uri] = FetchAttempt(conditional=False, bytes=len(result.body or b""))


def _read(pipeline: Pipeline, uri: str) -> FetchResult:
    path = file_path(uri)
    try:
        root = next((r for r in pipeline.source.roots if (Path(r) / path).is_file()), None)
    except OSError as error:
        return _local(uri, FetchStatus.REFUSED, reason=f"its folder cannot be read ({error.strerror})")
    if root is None:
        return _local(uri, FetchStatus.GONE, reason="file deleted")
    try:
        size, key = _largest(pipeline.source.limits, path)
        body = read_file(Path(root), path, max_bytes=size, key=key)
    except SitegraphError as error:
        return _local(uri, FetchStatus.REFUSED, reason=error.message)
    return _local(uri, FetchStatus.OK, body=body)


def _largest(sizes: SizeLimits, path: str) -> tuple[int, str]:
    """Bytes that a file may have, and the key that says so."""
    found = format_named(installed_formats(), path)
    key = f"{found.size if found else SizeClass.PAGE}_mb"
    named: int | None = getattr(sizes, key)
    return MAX_FILE_BYTES if named is None else named * 1_000_000, f"limits.{key}"


def _local(uri: str, status: FetchStatus, *, body: bytes | None = None, reason: str = "") -> FetchResult:
    return FetchResult(
        url=uri, status=status, requests=0, bytes=0, statuses=(), seconds=0.0, body=body, reason=reason
    )


def _save(pipeline: Pipeline, seen: Sequence[KnownDocument], attempts: Mapping[str, FetchAttempt]) -> None:
    ledger, source = pipeline.index.ledger, pipeline.source
    enqueue_targets(pipeline, seen, partial(plan_redirect, source), attempts=attempts)
    ledger.runs.add_problems(pipeline.run_id, redirects_outside(source, seen))
