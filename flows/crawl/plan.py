"""Step 1: which documents to look at, and the frontier that seeds, sitemaps and links add to."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from flows.run.contexts import CrawlContext, load_fragment
from flows.run.values import Batch
from indexes.stores.ledger.frontier import KEPT, Standing
from ingest.plan.frontier import (
    BudgetUsage,
    Frontier,
    apply_budgets,
    join_frontiers,
    plan_frontier,
    plan_redirect,
    site_of,
)
from ingest.plan.schedule import plan_sample
from ingest.plan.scope import Variant, budget_refusal, is_inside, seed_urls, spread_variants, variants_refusal
from ingest.plan.start import plan_claims, plan_rescope, plan_revival, plan_starts, plan_translations
from ingest.sources.registry import kind_named
from ingest.urls import is_file_url, path_of_variant, registrable_domain
from schemas.batches import batched
from schemas.completeness import DiscoveryWay
from schemas.documents import DocumentState, FetchAttempt, KnownDocument
from schemas.errors import DamageFound
from schemas.fragment import FormsBy
from schemas.report import Problem
from schemas.source import Source
from schemas.source_kinds import SourceEntry


def enqueue(run: CrawlContext, found: Frontier) -> None:
    """Add new documents, first come first served, while budgets last; what was gone is looked at again.

    What finds no room is counted once a run, so that nobody takes the source for complete.
    """
    with run.index.ledger.admission.locked(run.source.name):  # two that count the room would both fill it
        _enqueue(run, found)


def enqueue_targets(
    run: CrawlContext,
    documents: Sequence[KnownDocument],
    leads_to: Callable[[KnownDocument], Frontier],
    *,
    attempts: Mapping[str, FetchAttempt] | None = None,
) -> None:
    """Enqueue what documents lead to, then save them: a crash in between loses no target.

    Their depths are read again first, for another batch may have found a shorter way meanwhile; from here
    on it finds what they lead to.
    """
    ledger, source = run.index.ledger, run.source.name
    with ledger.admission.locked(source):
        standing = ledger.frontier.standing(source, [document.uri for document in documents])
        nearest = [
            replace(document, depth=min(document.depth, standing[document.uri].depth))
            if document.uri in standing
            else document
            for document in documents
        ]
        _enqueue(run, join_frontiers(map(leads_to, nearest)))
        ledger.documents.save(nearest, attempts)


def retire_variants(run: CrawlContext, uris: Iterable[str]) -> None:
    """Take variants of the same paths that wait for their first look out, where the last ones tell enough."""
    ledger, source = run.index.ledger, run.source.name
    paths = {path for uri in uris if (path := path_of_variant(uri)) is not None}
    with ledger.admission.locked(source):
        refused = {
            standing.uri: reason
            for variants in ledger.frontier.variants(source, paths).values()
            for standing in variants
            if standing.state is DocumentState.NEW
            and standing.uri not in seed_urls(run.source)
            and (reason := variants_refusal(standing.uri, _variants(variants))) is not None
        }
        rows = ledger.documents.get(source, refused) if refused else {}
        ledger.documents.save(
            [replace(row, state=DocumentState.OUT_OF_SCOPE, reason=refused[uri]) for uri, row in rows.items()]
        )
        stopped = [Problem(url=uri, reason=reason) for uri, reason in refused.items()]
        ledger.stops.add(run.run_id, stopped)


def _enqueue(run: CrawlContext, found: Frontier) -> None:
    """Follow what is found, then what documents lead to that came nearer by it, until no depth falls."""
    ledger, source = run.index.ledger, run.source.name
    while found.documents or found.stopped:
        ledger.stops.add(run.run_id, found.stopped)
        nearest: dict[str, KnownDocument] = {}
        for target in found.documents:
            first = nearest.setdefault(target.uri, target)
            if target.depth < first.depth:
                nearest[target.uri] = target
        standing = ledger.frontier.standing(source, nearest)
        _wake(run, standing.values())
        _let_in(run, [target for uri, target in nearest.items() if uri not in standing])
        nearer = {uri: nearest[uri].depth for uri in standing if nearest[uri].depth < standing[uri].depth}
        ledger.frontier.lower(source, nearer)
        rows = ledger.documents.get(source, nearer)
        found = join_frontiers(_behind(run, row) for row in rows.values())


def _let_in(run: CrawlContext, new: Sequence[KnownDocument]) -> None:
    if not new:
        return
    ledger = run.index.ledger
    planned = apply_budgets(run.source.scope, new, _held(run, new))
    ledger.documents.add_new(planned.documents)
    ledger.stops.add(run.run_id, planned.stopped)


def _held(run: CrawlContext, new: Sequence[KnownDocument]) -> BudgetUsage:
    """What the ledger holds of the hosts and paths of new documents."""
    ledger, source = run.index.ledger, run.source
    paths = {path for target in new if (path := path_of_variant(target.uri)) is not None}
    by_host = source.scope.max_pages_per_host is not None
    sites = {site_of(target.uri) for target in new} if by_host else ()
    variants = ledger.frontier.variants(source.name, paths)
    return BudgetUsage(
        pages=ledger.documents.count_awake(source.name),
        by_site={site: ledger.frontier.count_awake(source.name, site) for site in sites},
        variants={path: _variants(standing) for path, standing in variants.items()},
    )


def _wake(run: CrawlContext, standing: Iterable[Standing]) -> None:
    """Let documents be looked at again that were gone, or were too deep and no longer are."""
    documents, source = run.index.ledger.documents, run.source
    back = [
        known.uri
        for known in standing
        if (known.state is DocumentState.GONE and known.run_id != run.run_id)
        or (
            known.state is DocumentState.OUT_OF_SCOPE
            and budget_refusal(known.uri, source, depth=known.depth) is not None
        )
    ]
    rows = documents.get(source.name, back) if back else {}
    documents.save([replace(row, state=DocumentState.NEW, reason="", run_id=None) for row in rows.values()])


def _behind(run: CrawlContext, known: KnownDocument) -> Frontier:
    """What a document leads to, as far as it has been read."""
    if known.location is not None:
        return plan_redirect(run.source, known)
    if known.fragment_sha is None:
        return Frontier()
    try:
        fragment = load_fragment(run.index, known.fragment_sha)
    except DamageFound:
        return Frontier()  # parsed again later, it will lead on from its new depth
    return plan_frontier(run.source, fragment, depth=known.depth)


def _variants(standing: Iterable[Standing]) -> tuple[Variant, ...]:
    return tuple(
        Variant(uri=known.uri, content_hash=known.content_hash, fetched_at=known.fetched_at)
        for known in standing
    )


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
    told = _told(run, known)
    # What is said of a document is part of what was made of its bytes.
    known.update({uri: replace(known[uri], parsed_sha=None) for uri in told.keys() & known.keys()})
    documents.save([document for uri, document in known.items() if document is not before[uri]])
    enqueue(run, plan_starts(source, known, starts))
    run.index.ledger.translations.save(source.name, told)  # behind the rows, as flows/crawl/fetch.py does
    total = documents.count(source.name)
    _log.info(
        "planned %s: %d documents known before, %d now; %d seeds, sitemap entries or files to start from",
        source.name,
        len(before),
        total,
        len(starts),
    )
    return total


def plan_next_wave(run: CrawlContext, *, due_by: str | None) -> tuple[Batch, ...]:
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
    batches = cut_into_batches(uris, size=size, sampled=_sample(run, waiting))
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


def cut_into_batches(
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
        for number, part in enumerate(batched(tuple(members), size))
    )


def shard_of(uri: str) -> str:
    """What must be looked at in turn: a registrable domain, or the local files."""
    return "files" if is_file_url(uri) else registrable_domain(uri)


def _told(run: CrawlContext, known: Mapping[str, KnownDocument]) -> Mapping[str, FormsBy]:
    """What sitemaps say of translations that they did not; what is put aside waits, unread as it is."""
    listing = run.listing()
    listed = (entry for entry in listing.entries if DiscoveryWay.SITEMAP in entry.ways)
    now = {entry.uri: entry.translations for entry in listed if is_inside(run.source, entry.uri)}
    held = run.index.ledger.translations.of(run.source.name)
    told = plan_translations(held, now, by=DiscoveryWay.SITEMAP, whole=listing.whole)
    aside = {uri for uri, document in known.items() if document.state is DocumentState.QUARANTINED}
    return {uri: forms for uri, forms in told.items() if uri not in aside}


def _starts(run: CrawlContext) -> Mapping[str, str | None]:
    """Where the run starts, with the date that the source claims for it; what was left out is said."""
    listing, ledger, kind = run.listing(), run.index.ledger, kind_named(run.source.kind)
    ledger.runs.add_problems(run.run_id, listing.problems)
    if not kind.lists_all:  # of what lists all, the rows of documents say as much
        ledger.listings.save(run.source.name, ways_to_keep(run.source, listing.entries, origin=kind.origin))
    return {entry.uri: entry.lastmod for entry in listing.entries}


def ways_to_keep(
    source: Source, entries: Iterable[SourceEntry], *, origin: str
) -> Mapping[str, tuple[str, ...]]:
    """What lists each address; of those outside the source the first KEPT, for a sitemap may be of a host."""
    listed = {entry.uri: entry.ways or (origin,) for entry in entries}
    outside = sorted(uri for uri in listed if not is_inside(source, uri))
    for uri in outside[KEPT:]:
        del listed[uri]
    return listed


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
