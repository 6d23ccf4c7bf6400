"""Which links of a parsed page become documents to look at, and how many of them the budgets let in."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.plan.scope import Variant, budget_refusal, outside_refusal, variants_refusal
from ingest.urls import folder_of, path_of_variant, without_session
from schemas.documents import KnownDocument
from schemas.fragment import GraphFragment
from schemas.report import Problem
from schemas.source import Scope, Source

MAX_REDIRECTS = 10
"""Redirects followed one after the other, as browsers and RFC 9110 15.4 have it."""

STUB_WORDS = 30
"""Words that a page may have and still be no more than the redirect in its head: "You are being taken to"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """Documents that something led to, and those in scope that a budget stops, each with its reason."""

    documents: tuple[KnownDocument, ...] = ()
    stopped: tuple[Problem, ...] = ()


def join_frontiers(frontiers: Iterable[Frontier]) -> Frontier:
    """Put frontiers together in order."""
    parts = tuple(frontiers)
    return Frontier(
        documents=tuple(document for part in parts for document in part.documents),
        stopped=tuple(problem for part in parts for problem in part.stopped),
    )


def plan_frontier(source: Source, fragment: GraphFragment, *, depth: int) -> Frontier:
    """What a page leads to and lies in scope, by URI: links, refresh, translations, its canonical address."""
    if fragment.nofollow:
        return Frontier()
    targets = {link.target for link in fragment.links} | set(fragment.alternates)
    targets |= {target for target in (fragment.refresh, fragment.canonical) if target}
    return plan_targets(source, targets - {fragment.uri}, depth=depth + 1, found_by=fragment.uri)


def plan_redirect(source: Source, known: KnownDocument) -> Frontier:
    """Where a redirect leads, if that is in scope and not one more of an endless chain."""
    if known.location is None:
        return Frontier()
    if known.hops >= MAX_REDIRECTS:
        return Frontier(
            stopped=(Problem(url=known.uri, reason=f"more than {MAX_REDIRECTS} redirects in a row"),)
        )
    found = plan_targets(source, [known.location], depth=known.depth, found_by=known.uri)
    return replace(found, documents=tuple(replace(d, hops=known.hops + 1) for d in found.documents))


def stub_target(fragment: GraphFragment) -> str | None:
    """Where a page leads that is a meta refresh and no content; None for a page to read."""
    return fragment.refresh if len(fragment.text.split()) < STUB_WORDS else None


def redirects_outside(source: Source, documents: Iterable[KnownDocument]) -> tuple[Problem, ...]:
    """Name the redirects that lead out of the source: nobody follows them."""
    return tuple(
        Problem(url=document.uri, reason=f"redirects out of scope to {document.location}")
        for document in documents
        if document.location is not None and outside_refusal(document.location, source)
    )


def plan_targets(source: Source, uris: Iterable[str], *, depth: int, found_by: str | None) -> Frontier:
    """Ledger rows for the URIs in scope, ordered by URI; one with a session id is tried without it too."""
    wanted = set(uris)
    wanted |= {plain for uri in wanted if (plain := without_session(uri)) is not None}
    inside = [uri for uri in sorted(wanted) if outside_refusal(uri, source) is None]
    refusals = {uri: budget_refusal(uri, source, depth=depth) for uri in inside}
    return Frontier(
        documents=tuple(
            KnownDocument(source=source.name, uri=uri, depth=depth, found_by=found_by)
            for uri, refusal in refusals.items()
            if refusal is None
        ),
        stopped=tuple(Problem(url=uri, reason=refusal) for uri, refusal in refusals.items() if refusal),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUsage:
    """What the ledger contains of a source: documents in all and by site, and the variants of paths."""

    pages: int
    by_site: Mapping[str, int] = field(default_factory=dict)
    variants: Mapping[str, Sequence[Variant]] = field(default_factory=dict)


def apply_budgets(scope: Scope, new: Iterable[KnownDocument], held: BudgetUsage) -> Frontier:
    """Enqueue new documents in the order given, while every budget has room."""
    budget = _Budget(scope, held)
    enqueued: list[KnownDocument] = []
    stopped: list[Problem] = []
    for target in new:
        reason = budget.refusal(target)
        if reason is None:
            budget.spend(target.uri)
            enqueued.append(target)
        else:
            stopped.append(Problem(url=target.uri, reason=reason))
    return Frontier(documents=tuple(enqueued), stopped=tuple(stopped))


def site_of(uri: str) -> str:
    """Return scheme and authority with the slash that ends them: the start of all addresses of a host."""
    scheme, _, rest = folder_of(uri).partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/"


_LIMITS = ("max_pages", "max_queries_per_path", "deeper than max_depth")


def is_limit(reason: str) -> bool:
    """Whether a reason not to follow a document is a limit that the source file sets."""
    return reason.startswith(_LIMITS)


class _Budget:
    """Counts down what is left while documents are enqueued."""

    def __init__(self, scope: Scope, held: BudgetUsage) -> None:
        self._scope = scope
        self._held = held
        self._pages = held.pages
        self._sites = Counter(held.by_site)
        self._queries = Counter(
            path
            for path, variants in held.variants.items()
            for variant in variants
            if path_of_variant(variant.uri) == path
        )

    def refusal(self, target: KnownDocument) -> str | None:
        """Say which budget has no room for one more; None when all have.

        A page that a seed or a sitemap names is no trap, whatever its query.
        """
        uri, path = target.uri, path_of_variant(target.uri)
        if path is not None and target.found_by is not None:
            if refusal := variants_refusal(uri, self._held.variants.get(path, ())):
                return refusal
            if self._queries[path] >= self._scope.max_queries_per_path:
                return f"max_queries_per_path {self._scope.max_queries_per_path} reached"
        of_host = self._scope.max_pages_per_host
        if of_host is not None and self._sites[site_of(uri)] >= of_host:
            return f"max_pages_per_host {of_host} reached"
        full = self._pages >= self._scope.max_pages
        return f"max_pages {self._scope.max_pages} reached" if full else None

    def spend(self, uri: str) -> None:
        """Count one document in."""
        self._pages += 1
        if self._scope.max_pages_per_host is not None:
            self._sites[site_of(uri)] += 1
        if (path := path_of_variant(uri)) is not None:
            self._queries[path] += 1
