"""Step 1: which documents to look at."""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby

from flows.crawl.frontier import enqueue
from flows.run.batches import cut
from flows.run.contexts import CrawlContext
from flows.run.values import Batch
from indexes.stores.ledger.frontier import Standing
from ingest.plan.budgets import site_of
from ingest.plan.sample import plan_sample
from ingest.plan.start import plan_claims, plan_rescope, plan_revival, plan_starts
from ingest.plan.traps import spread_variants
from ingest.sources.registry import kind_named
from ingest.urls import is_file_url, registrable_domain
from schemas.documents import DocumentState, KnownDocument

_log = logging.getLogger(__name__)

WAVE = 2000
TOLD_SHARDS = 10
"""So many hosts of a wave are named in the log, those with the most documents."""

BATCH_SECONDS = 20.0
"""Batches end within about so many seconds, so that a stop or a retry costs little."""
MOST_AT_ONCE = 100
READ_AT_ONCE = 50
"""990 known files, nothing new: 3.3 CPU seconds in batches of 20, 2.6 of 50, 2.5 of 100."""


def plan_source(run: CrawlContext, *, due_by: str | None = None) -> int:
    """Bring seeds, sitemaps or folders, and a changed scope, into the ledger; give the URIs known.

    What is gone and still named comes back into it where that is due by *due_by*.
    """
    documents, source, run_id = run.index.ledger.documents, run.source, run.run_id
    before = {document.uri: document for document in documents.of_source(source.name)}
    starts = _starts(run)
    known = {**before, **plan_rescope(source, before, run_id=run_id)}
    if any(document.state is DocumentState.GONE for document in known.values()):
        known.update(_revive(run, known, starts, due_by))
    known.update(plan_claims(known, starts))
    documents.save([document for uri, document in known.items() if document is not before[uri]])
    enqueue(run, plan_starts(source, known, starts))
    total = documents.count(source.name)
    _log.info(
        "planned %s: %d documents known before, %d now; %d seeds, sitemap entries or files to start from",
        source.name,
        len(before),
        total,
        len(starts),
    )
    return total


def plan_wave(run: CrawlContext, *, due_by: str | None) -> tuple[Batch, ...]:
    """Documents this run has not looked at yet, in batches of one shard; empty when nothing is left."""
    _look_again(run)
    waiting = run.index.ledger.frontier.to_look_at(
        run.source.name, run_id=run.run_id, due_by=due_by, limit=WAVE
    )
    uris = spread_variants(
        ((known.uri, known.state is DocumentState.NEW) for known in waiting),
        partial(_looked_at, run),
    )
    new = sum(known.state is DocumentState.NEW for known in waiting)
    size = batch_size(
        run.source.rate.per_host_delay,
        waits=not kind_named(run.source.kind).by_path,
        mostly_new=2 * new > len(waiting),
    )
    batches = plan_batches(uris, size=size, sampled=_sample(run, waiting))
    if batches:
        shards = Counter(batch.shard for batch in batches for _ in batch.uris)
        told = ", ".join(f"{shard} {number}" for shard, number in shards.most_common(TOLD_SHARDS))
        _log.info("wave of %d documents in %d batches: %s", len(uris), len(batches), told)
    return batches


def _looked_at(run: CrawlContext, paths: Collection[str]) -> Mapping[str, int]:
    variants = run.index.ledger.frontier.variants(run.source.name, paths)
    return {path: sum(v.content_hash is not None for v in members) for path, members in variants.items()}


def _sample(run: CrawlContext, waiting: Iterable[Standing]) -> frozenset[str]:
    if kind_named(run.source.kind).proves_content or run.source.javascript:
        return frozenset()  # no 304 is asked for, or each is as good as the content
    held = ((known.uri, known.etag is not None) for known in waiting if known.etag or known.last_modified)
    return plan_sample(held, run_id=run.run_id)


def _look_again(run: CrawlContext) -> None:
    """Plan again what sites called unmodified that turned out to say so of other content."""
    ledger, source = run.index.ledger, run.source.name
    if kind_named(run.source.kind).proves_content:
        return
    if denied := ledger.documents.denied(source, run.run_id):
        live = ledger.generations.live(run.index.current(), docs=[known.doc for known in denied if known.doc])
        hid = {
            site_of(known.uri)
            for known in denied
            if (before := live.get(known.doc or "")) and before.content_hash != known.content_hash
        }
        ledger.hosts.disbelieve_dates(hid, now=run.index.clock.now().isoformat())
    ledger.frontier.look_again(source, run_id=run.run_id, since=ledger.hosts.disbelieved_dates())


def batch_size(delay: float, *, waits: bool, mostly_new: bool) -> int:
    """Choose how many documents to look at in one batch.

    A batch costs some fifteen statements to the ledger, and waits *delay* seconds for each document if the
    source *waits* at all. Of one that does not, documents that have been seen before are mostly just read, so
    batches may be larger; what is *mostly_new* is parsed, and parsers share small batches better.
    """
    polite = MOST_AT_ONCE if delay == 0 else max(5, min(MOST_AT_ONCE, int(BATCH_SECONDS / delay)))
    return polite if waits or mostly_new else max(polite, READ_AT_ONCE)


def plan_batches(
    uris: Sequence[str], *, size: int, sampled: Collection[str] = frozenset()
) -> tuple[Batch, ...]:
    """Cut URIs into batches that never mix shards; those *sampled* come first, else the order stays."""
    ordered = sorted(uris, key=lambda uri: (shard_of(uri), uri not in sampled))
    return tuple(
        Batch(
            shard=shard,
            number=number,
            uris=tuple(part),
            sampled=tuple(uri for uri in part if uri in sampled),
        )
        for shard, members in groupby(ordered, key=shard_of)
        for number, part in enumerate(cut(tuple(members), size))
    )


def shard_of(uri: str) -> str:
    """What must be looked at in turn: a registrable domain, or the local files."""
    return "files" if is_file_url(uri) else registrable_domain(uri)


def _starts(run: CrawlContext) -> Mapping[str, str | None]:
    """Where the run starts, with the date that the source claims for it; what was left out is said."""
    listing = run.listing()
    run.index.ledger.runs.add_problems(run.run_id, listing.problems)
    return {entry.uri: entry.lastmod for entry in listing.entries}


def _revive(
    run: CrawlContext, known: Mapping[str, KnownDocument], starts: Collection[str], due_by: str | None
) -> Mapping[str, KnownDocument]:
    """Gone documents to look at again: named by a start or, as it was read last, by a current page.

    A file that is there is back, and what a guard kept in the index may be: neither waits until it is due.
    """
    ledger, run_id = run.index.ledger, run.run_id
    live = ledger.generations.live(run.index.current(), source=run.source.name).values()
    at_once = {document.uri for document in live}
    if kind_named(run.source.kind).lists_all:
        return plan_revival(known, (), at_once=at_once | set(starts), run_id=run_id, due_by=due_by)
    named = {*starts, *ledger.links.targets_of({document.fragment_sha for document in live})}
    return plan_revival(known, named, at_once=at_once, run_id=run_id, due_by=due_by)
