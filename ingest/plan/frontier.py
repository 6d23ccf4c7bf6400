"""Which links of a parsed page become documents to look at."""

from collections.abc import Iterable

from ingest.plan.scope import scope_refusal
from schemas.documents import KnownDocument
from schemas.fragment import GraphFragment
from schemas.source import Source


def plan_frontier(source: Source, fragment: GraphFragment, *, depth: int) -> tuple[KnownDocument, ...]:
    """Documents that a page's links, or its meta refresh, lead to and that lie in scope, by URI."""
    if fragment.nofollow:
        return ()
    targets = {link.target for link in fragment.links} - {fragment.uri}
    if fragment.refresh:
        targets.add(fragment.refresh)
    return plan_documents(source, targets, depth=depth + 1, found_by=fragment.uri)


def plan_documents(
    source: Source, uris: Iterable[str], *, depth: int, found_by: str | None
) -> tuple[KnownDocument, ...]:
    """New ledger rows for the URIs that lie in scope, ordered by URI."""
    return tuple(
        KnownDocument(source=source.name, uri=uri, depth=depth, found_by=found_by)
        for uri in sorted(set(uris))
        if scope_refusal(uri, source, depth=depth) is None
    )
