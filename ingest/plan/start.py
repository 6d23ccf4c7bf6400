"""Where a run starts: what the source file, sitemaps and folders make of the rows that are known."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from ingest.plan.budgets import site_of
from ingest.plan.frontier import Frontier, plan_targets
from ingest.plan.lastmod import distrusted_sites, with_claim
from ingest.plan.schedule import is_due
from ingest.plan.scope import scope_refusal, seed_urls
from ingest.plan.traps import Variant, variants_refusal
from ingest.session_ids import path_of_variant
from schemas.documents import DocumentState, KnownDocument
from schemas.source import Source

Rows = Mapping[str, KnownDocument]
"""Ledger rows of one source by URI."""


def plan_rescope(source: Source, known: Rows, *, run_id: str) -> Rows:
    """Rows whose place in or out of the scope is another than the source file now says."""
    variants = _variants_asleep(known)
    changed = {}
    for uri, document in known.items():
        refusal = scope_refusal(uri, source, depth=document.depth)
        is_out = document.state is DocumentState.OUT_OF_SCOPE
        if refusal and not is_out:
            state = DocumentState.OUT_OF_SCOPE
            changed[uri] = replace(document, state=state, reason=refusal, run_id=run_id)
        elif not refusal and is_out and not _is_refused_variant(uri, variants):
            changed[uri] = replace(document, state=DocumentState.NEW, reason="", run_id=None)
    return changed


def plan_revival(
    known: Rows, named: Collection[str], *, at_once: Collection[str], run_id: str, due_by: str | None
) -> Rows:
    """Rows of gone documents that are worth another look.

    Those that something names, when they are due; those *at_once* whether due or not.
    """
    return {
        uri: replace(document, state=DocumentState.NEW)
        for uri, document in known.items()
        if document.state is DocumentState.GONE
        and document.run_id != run_id
        and (uri in at_once or (uri in named and is_due(document, due_by)))
    }


def plan_claims(known: Rows, starts: Mapping[str, str | None]) -> Rows:
    """Rows of which the sitemaps claim something else than before; sites that told lies are not heard."""
    distrusted = distrusted_sites(known.values())
    heard = {
        uri: with_claim(document, _claim(uri, starts, distrusted))
        for uri, document in known.items()
        if document.lastmod is not None or starts.get(uri) is not None
    }
    return {uri: document for uri, document in heard.items() if document is not known[uri]}


def plan_starts(source: Source, known: Rows, starts: Mapping[str, str | None]) -> Frontier:
    """What seeds and listings, with the date each claims, add: seeds first, then the latest change first.

    What is known at depth 0 already adds nothing.
    """
    fresh = {uri for uri in starts if uri not in known or known[uri].depth > 0}
    seeds = frozenset(seed_urls(source))
    distrusted = distrusted_sites(known.values())
    found = plan_targets(source, fresh, depth=0, found_by=None)
    claimed = [with_claim(document, _claim(document.uri, starts, distrusted)) for document in found.documents]
    claimed.sort(key=lambda document: document.lastmod or "", reverse=True)
    claimed.sort(key=lambda document: document.uri not in seeds)
    return Frontier(documents=tuple(claimed), stopped=found.stopped)


def _claim(uri: str, starts: Mapping[str, str | None], distrusted: Collection[str]) -> str | None:
    return None if distrusted and site_of(uri) in distrusted else starts.get(uri)


def _variants_asleep(known: Rows) -> Mapping[str, tuple[Variant, ...]]:
    """Variants of the paths of which some are out of scope: what says whether those may come back."""
    asleep = (document.uri for document in known.values() if document.state is DocumentState.OUT_OF_SCOPE)
    paths = {path for uri in asleep if (path := path_of_variant(uri)) is not None}
    variants: defaultdict[str, list[Variant]] = defaultdict(list)
    for document in known.values() if paths else ():
        path = path_of_variant(document.uri) or document.uri
        if path in paths:
            variants[path].append(_variant(document))
    return {path: tuple(members) for path, members in variants.items()}


def _is_refused_variant(uri: str, variants: Mapping[str, Iterable[Variant]]) -> bool:
    path = path_of_variant(uri)
    return path is not None and variants_refusal(uri, tuple(variants.get(path, ()))) is not None


def _variant(known: KnownDocument) -> Variant:
    return Variant(uri=known.uri, content_hash=known.content_hash, fetched_at=known.fetched_at)
