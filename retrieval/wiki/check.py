"""Looks every page of a wiki over against the index that readers see."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from indexes.ports import ChunkReader, GraphReader
from retrieval.wiki.page import Fact, PageProblem, WikiPage
from retrieval.wiki.store import Wiki, resolve_links
from retrieval.wiki.subgraph import facts_of, node_label
from retrieval.wiki.trust import Trust, contradicted_by, mark_pages, read_trust
from schemas.edges import EdgeKind
from schemas.records import Record, to_record


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A page and what was found of it; `broken_links` are targets that are no page."""

    page: WikiPage
    trust: Trust
    broken_links: tuple[str, ...]

    def to_record(self) -> Record:
        """Return what a program needs to know of the page."""
        return {
            **page_record(self.page),
            "status": self.trust.status.value,
            "stale_chunks": list(self.trust.stale),
            "moved_sets": list(self.trust.moved),
            "contradictions": [to_record(one) for one in self.trust.contradictions],
            "broken_links": list(self.broken_links),
        }


def check_wiki(
    wiki: Wiki, chunks: ChunkReader, graph: GraphReader | None, *, now: str
) -> tuple[tuple[Looked, ...], tuple[PageProblem, ...]]:
    """Return what was found of every page, in order, and problems; writes status and contradictions on pages.

    Args: graph: what it states of the pages' subjects is held against them; None leaves that out.
    Raises: StoreUnavailable: a store, or the folder of the wiki, cannot be read.
    """
    listing = wiki.list()
    trust = read_trust(chunks, graph, listing.pages)
    if graph is not None:
        trust |= contradicted_by(_stated(graph, listing.pages), listing.pages, trust)
    broken = resolve_links(listing.pages)
    unwritten = mark_pages(wiki, listing.pages, trust, now=now)
    looked = tuple(
        Looked(page=page, trust=trust[page.ref], broken_links=broken.get(page.ref, ()))
        for page in listing.pages
    )
    return looked, (*listing.problems, *unwritten)


def _stated(graph: GraphReader, pages: Collection[WikiPage]) -> tuple[Fact, ...]:
    """Return what the graph states now of the subjects of pages, in two calls for any number of them."""
    subjects = sorted({fact.subject_id for page in pages for fact in page.facts if fact.subject_id})
    edges = graph.edges_from(subjects, kinds={EdgeKind.RELATED}) if subjects else ()
    ends = sorted({end for edge in edges for end in (edge.src, edge.dst)})
    names = {node.id: node_label(node) for node in graph.nodes(ends)} if ends else {}
    return facts_of(edges, names)


def whole_record(page: WikiPage) -> Record:
    """Return all of a page; what JSON has no form for among a person's own keys, as dates, is text."""
    return {**to_record(page), "extra": _plain(page.extra)}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            return str(value)


def page_record(page: WikiPage) -> Record:
    """Return where a page is, what it is about, and what it says of itself."""
    return {
        "category": page.category,
        "slug": page.slug,
        "title": page.title,
        "summary": page.summary,
        "status": page.status.value,
        "query": page.query,
        "generation": page.generation,
        "rests_on": list(page.rests_on),
        "ranges_over": [to_record(one) for one in page.ranges_over],
        "links": list(page.links),
    }
