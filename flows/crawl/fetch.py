"""Step 2: bytes of a batch of documents into the raw store, their state into the ledger."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from flows.crawl.plan import enqueue_targets
from flows.run.contexts import CrawlContext, is_parsed, robot_name
from ingest.diff.documents import STALE_FAILURES
from ingest.diff.lifecycle import after_fetch, summarise_states
from ingest.diff.validators import (
    DisbeliefReason,
    asked_first,
    dates_went_back,
    doubt_of,
    host_of,
    is_conditional,
    needs_proof,
    states_other_sizes,
    trusts_validators,
)
from ingest.fetch.media import is_whole_document
from ingest.parse.access import header_directives
from ingest.parse.formats.registry import formats_version, installed_formats
from ingest.plan.frontier import plan_redirect, redirects_outside, site_of
from ingest.plan.schedule import wants_full_fetch
from ingest.plan.start import plan_translations
from ingest.sources.registry import kind_named
from ingest.uses import next_outside, terms_of_directives, unstamped
from schemas.documents import DocumentState, FetchAttempt, KnownDocument
from schemas.errors import DamageFound
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from schemas.formats import media_type
from schemas.report import Problem
from schemas.uses import UseOrigin, UseTerms

_log = logging.getLogger(__name__)

Told = dict[str, FetchResult]
"""Answers without their bodies, by address: what was said now of documents beside these."""

BROKE_OFF = "the connection ended before the end of the page, which the version before has"


def fetch_batch(run: CrawlContext, uris: Sequence[str], *, sampled: Collection[str] = ()) -> int:
    """Look at the documents and record what came of it; give how many were looked at.

    Those *sampled* are asked for first, without conditions: they show what the site's 304s are worth now.
    What was fetched before a stop or a failure is recorded all the same.
    """
    rows = run.index.ledger.documents.get(run.source.name, uris)
    known = {uri: rows[uri] for uri in uris if uri in rows}  # in the order that was planned
    seen: dict[str, KnownDocument] = {}
    attempts: dict[str, FetchAttempt] = {}
    told: Told = {}
    try:
        first = {uri: row for uri, row in known.items() if uri in sampled}
        _ask(run, first, seen, attempts, told, whole=True)
        _ask(run, {uri: row for uri, row in known.items() if uri not in sampled}, seen, attempts, told)
    finally:
        _save(run, tuple(seen.values()), attempts, told)
        _log.info("fetched %d of %d: %s", len(seen), len(known), summarise_states(seen.values()))
    run.crash_point("ledger.after_fetch")
    run.raise_if_stopped()
    return len(seen)


def unfetched(run: CrawlContext, uris: Sequence[str]) -> tuple[str, ...]:
    """Those of the documents that the run has not looked at yet: a worker may have died in their midst."""
    rows = run.index.ledger.documents.get(run.source.name, uris)
    return tuple(uri for uri in uris if uri in rows and rows[uri].run_id != run.run_id)


def _ask(
    run: CrawlContext,
    known: Mapping[str, KnownDocument],
    seen: dict[str, KnownDocument],
    attempts: dict[str, FetchAttempt],
    told: Told,
    *,
    whole: bool = False,
) -> None:
    """Ask for all, and once more where 304s, then or now, may hide what is there; *whole*: for all of it."""
    hosts = run.index.ledger.hosts
    beliefs = _Beliefs(hosts.distrusted(), hosts.disbelieved_dates())
    usual = {uri: _request(run, document, beliefs) for uri, document in known.items()}
    asked = {uri: FetchRequest(url=uri) for uri in usual} if whole else usual
    doubts: dict[str, DisbeliefReason] = {}

    def on_result(result: FetchResult) -> None:
        uri, conditional = result.url, is_conditional(asked[result.url])
        if uri not in seen:
            run.progress.advance("fetch")
        if conditional and (doubt := doubt_of(asked[uri], result, held=_held(run, known[uri], result))):
            doubts[uri] = doubt
        earlier = _as_earlier(attempts[uri], seen[uri], doubts.get(uri)) if uri in seen else ()
        seen[uri] = _record(run, known[uri], result, conditional=conditional)
        attempts[uri] = FetchAttempt(conditional=conditional, bytes=result.bytes, earlier=earlier)
        if result.status in (FetchStatus.OK, FetchStatus.NOT_MODIFIED):
            told[uri] = replace(result, body=None)

    _fetch(run, list(asked.values()), on_result)
    if whole:
        sampled = {uri for uri, request in usual.items() if is_conditional(request)}
        _prove(run, asked, known, seen, attempts, sampled=sampled)
        return
    _prove(run, asked, known, seen, attempts)

    def ask_again(uris: Sequence[str]) -> None:
        asked.update({uri: FetchRequest(url=uri) for uri in uris})
        _fetch(run, [asked[uri] for uri in uris], on_result)
        for uri in uris:
            if needs_proof(known[uri], seen[uri], conditional=False, sampled=True):
                _found_out(run, known[uri], seen)

    first = asked_first(doubts)
    ask_again(first)
    by_size = (uri for uri in first if doubts[uri] is DisbeliefReason.SIZE)
    shown = {host_of(uri) for uri in by_size if states_other_sizes(known[uri], seen[uri])}
    ask_again([uri for uri in doubts if uri not in first and host_of(uri) not in shown])


def _as_earlier(
    attempt: FetchAttempt, seen: KnownDocument, doubt: DisbeliefReason | None
) -> tuple[FetchAttempt, ...]:
    """The attempt before another one, with what it brought."""
    why = f"its {doubt} is of something else: asked for without conditions" if doubt else seen.reason
    told = replace(attempt, state=seen.state, http_status=seen.http_status, raw_sha=seen.raw_sha, reason=why)
    return (*attempt.earlier, replace(told, earlier=()))


def _prove(
    run: CrawlContext,
    asked: Mapping[str, FetchRequest],
    known: Mapping[str, KnownDocument],
    seen: dict[str, KnownDocument],
    attempts: dict[str, FetchAttempt],
    *,
    sampled: Collection[str] = (),
) -> None:
    """Show the old validators where 304s may hide what came now: another 304 does hide it."""
    doubtful = [
        FetchRequest(url=before.uri, etag=before.etag, last_modified=before.last_modified)
        for uri, before in known.items()
        if needs_proof(before, seen[uri], conditional=is_conditional(asked[uri]), sampled=uri in sampled)
    ]

    def on_result(result: FetchResult) -> None:
        uri = result.url
        attempts[uri] = FetchAttempt(
            conditional=True,
            bytes=result.bytes,
            http_status=result.http_status,
            reason="asked once more with the validators of before",
            earlier=_as_earlier(attempts[uri], seen[uri], None),
        )
        if result.status is FetchStatus.NOT_MODIFIED:
            _found_out(run, known[uri], seen)

    _fetch(run, doubtful, on_result)


def _found_out(run: CrawlContext, before: KnownDocument, seen: dict[str, KnownDocument]) -> None:
    """Note that a 304 hid what came now: an older file, of which dates cannot tell, or else a lie."""
    after = seen[before.uri]
    if not dates_went_back(before, after):
        seen[before.uri] = replace(after, denied=True)
        return
    ledger, site = run.index.ledger, site_of(before.uri)
    if after.raw_sha == before.raw_sha and site in ledger.hosts.disbelieved_dates():
        return  # mirrors with other dates for equal files: found out once, and no reason to ask for all again
    ledger.hosts.disbelieve_dates([site], now=run.index.clock.now().isoformat())
    why = (
        f"its dates went back ({before.uri}: {after.last_modified}, before {before.last_modified}): what was "
        "fetched before is asked for without conditions once"
    )
    if site not in {problem.url for problem in ledger.runs.problems(run.run_id)}:
        ledger.runs.add_problems(run.run_id, [Problem(url=site, reason=why)])


def _held(run: CrawlContext, known: KnownDocument, result: FetchResult) -> int | None:
    """Bytes of the body that is here, where the answer says how many there are."""
    body = None if result.length is None else _kept(run, known.raw_sha)
    return None if body is None else len(body)


def _kept(run: CrawlContext, sha256: str | None) -> bytes | None:
    """The bytes of a hash; None where they are not kept, or no longer those."""
    try:
        return run.index.raw.get(sha256) if sha256 else None
    except DamageFound:
        return None


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


@dataclass(frozen=True, slots=True)
class _Beliefs:
    """Hosts whose 304 is never believed, and until when the dates that a site gave are not."""

    distrusted: Collection[str]
    dates: Mapping[str, str]

    def trusts(self, known: KnownDocument) -> bool:
        """Whether a 304 for the document would be believed."""
        if not trusts_validators(known, distrusted=self.distrusted):
            return False
        until = self.dates.get(site_of(known.uri)) if self.dates else None
        return until is None or (known.fetched_at or "") >= until


def _request(run: CrawlContext, known: KnownDocument, beliefs: _Beliefs) -> FetchRequest:
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
    if not usable or old or not beliefs.trusts(known):
        return plain
    return asked


def _record(
    run: CrawlContext, known: KnownDocument, result: FetchResult, *, conditional: bool
) -> KnownDocument:
    run.crash_point("fetch.received")
    if _broke_off(run, known, result):
        result = replace(result, status=FetchStatus.FAILED, body=None, reason=BROKE_OFF)
    raw_sha = run.index.raw.put(result.body) if result.body is not None else None
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


def _broke_off(run: CrawlContext, known: KnownDocument, result: FetchResult) -> bool:
    """Whether a body that nothing proves whole has lost the end that the version before shows.

    Not one of another type, or that comes so look after look: its site leaves the end out now.
    """
    lasts = known.reason == BROKE_OFF and known.failures + 1 >= STALE_FAILURES
    if not result.unproven or lasts or media_type(known.content_type) != media_type(result.content_type):
        return False
    before = _kept(run, known.raw_sha)
    return before is not None and is_whole_document(before, installed_formats())


def _save(
    run: CrawlContext, seen: Sequence[KnownDocument], attempts: Mapping[str, FetchAttempt], told: Told
) -> None:
    ledger, source = run.index.ledger, run.source
    said = _said(run, {row.uri: row for row in seen if row.uri in told and told[row.uri].uses}, told)
    forms = {uri: one.translations for uri, one in told.items() if one.translations is not None}
    held = ledger.translations.of(source.name, forms)
    named = plan_translations(held, forms, by="header", whole=False)
    # What is said of a document is part of what was made of its bytes.
    rows = [replace(row, parsed_sha=None) if row.uri in said or row.uri in named else row for row in seen]
    enqueue_targets(run, rows, partial(plan_redirect, source), attempts=attempts)
    ledger.uses.save(source.name, said)  # behind the rows: a crash in between finds the change once more
    ledger.translations.save(source.name, named)
    ledger.runs.add_problems(run.run_id, redirects_outside(source, seen))


def _said(run: CrawlContext, rows: Mapping[str, KnownDocument], told: Told) -> Mapping[str, UseTerms]:
    """Return what is said of the uses of documents, where that is another than before."""
    held, found = run.index.ledger.uses.of(run.source.name, rows), {}
    for uri, row in rows.items():
        words = header_directives(row.x_robots_tag, robot=robot_name(run))
        before, directives = held.get(uri, ()), terms_of_directives(words, UseOrigin.HEADER)
        now = next_outside(before, told[uri].uses, directives, now=row.checked_at)
        if {*map(unstamped, now)} != {*map(unstamped, before)}:
            found[uri] = now
    return found
