"""What seeds, sitemaps, links and redirects lead to comes into the ledger, as far as there is room."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from flows.run.contexts import CrawlContext
from flows.run.fragments import load_fragment
from indexes.stores.ledger.frontier import Standing
from ingest.plan.budgets import BudgetUsage, apply_budgets, site_of
from ingest.plan.frontier import Frontier, join_frontiers, plan_frontier, plan_redirect
from ingest.plan.scope import budget_refusal, seed_urls
from ingest.plan.traps import Variant, variants_refusal
from ingest.session_ids import path_of_variant
from schemas.documents import DocumentState, KnownDocument
from schemas.errors import DamageFound
from schemas.history import FetchAttempt
from schemas.report import Problem


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
