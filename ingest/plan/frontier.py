"""Which links of a parsed page become documents to look at."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ingest.plan.scope import budget_refusal, outside_refusal
from ingest.session_ids import without_session
from schemas.documents import KnownDocument
from schemas.fragment import GraphFragment
from schemas.report import Problem
from schemas.source import Source

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
