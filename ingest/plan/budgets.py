"""How much of each budget is left, and which new documents it lets a source enqueue."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.plan.frontier import Frontier
from ingest.plan.traps import Variant, variants_refusal
from ingest.session_ids import path_of_variant
from ingest.urls import folder_of
from schemas.documents import KnownDocument
from schemas.report import Problem
from schemas.source import Scope


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
