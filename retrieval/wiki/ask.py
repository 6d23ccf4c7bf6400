"""The wiki before the graph: an answer from a page that may be trusted, else the graph's evidence."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Protocol

from indexes.ports import ChunkReader, Encoder, GraphReader, Reranker
from retrieval.wiki.evidence import GraphEvidence, gather_evidence
from retrieval.wiki.facts import facts_of
from retrieval.wiki.marks import mark_pages
from retrieval.wiki.page import WikiPage
from retrieval.wiki.ranges import current_sets
from retrieval.wiki.reply import ROUTE, WikiAnswer, bundle_page, with_chain
from retrieval.wiki.search import PageIndex
from retrieval.wiki.store import Wiki
from retrieval.wiki.subgraph import MIN_CONFIDENCE
from retrieval.wiki.sufficiency import PageVerdict, judge_page
from retrieval.wiki.trust import Trust, contradicted_by, current_hashes, weigh_pages
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle

READ_MAX = 3
"""Pages that are read for a question."""
GRAPH = "graph"


class WikiReaders(Protocol):
    """Readers of one generation, as `indexes.wiring.open_readers` gives them."""

    @property
    def chunks(self) -> ChunkReader:
        """The passages."""

    @property
    def graph(self) -> GraphReader | None:
        """The graph, None where it could not be opened."""

    @property
    def encoder(self) -> Encoder:
        """The query encoder."""

    @property
    def generation(self) -> int:
        """The generation that all of them see."""

    @property
    def as_of(self) -> str:
        """When it was published."""


def answer_from_wiki(
    wiki: Wiki,
    sources: WikiReaders,
    query: str,
    *,
    retrieve: Callable[[], ContextBundle],
    reranker: Reranker | None,
    now: str,
    min_confidence: float = MIN_CONFIDENCE,
) -> WikiAnswer:
    """Answer from the best page that passes the whole test, else gather evidence from the graph.

    The graph is not asked where a page answers, but for the sets that pages range over; one that does not
    reply is `degraded` and no error, and passages then come from *retrieve* alone. What is found of pages
    (stale, contradicted) is written on them, where the wiki can be written to.

    Args: query: one line. retrieve: what a search finds for it, asked where no page answers. now: ISO 8601,
    for pages whose status changes. min_confidence: of edges followed.
    Raises: StoreUnavailable: the chunk store, or the folder of the wiki, cannot be read.
    """
    listing = wiki.list()
    trust = weigh_pages(
        listing.pages,
        current_hashes(sources.chunks, listing.pages),
        current_sets(sources.graph, listing.pages),
    )
    verdicts = _read_best(listing.pages, query, trust, reranker)
    page = next((one.page for one in verdicts if one.sufficient), None)
    evidence = None if page else _ask_graph(sources, query, min_confidence)
    facts = facts_of(evidence.subgraph.edges, evidence.names) if evidence else ()
    against = contradicted_by(facts, listing.pages, trust)
    trust |= against
    verdicts = tuple(replace(one, trust=trust[one.page.ref]) for one in verdicts)
    return WikiAnswer(
        query=query,
        bundle=_of_page(sources, page, query) if page else _found(sources, evidence, retrieve()),
        verdicts=verdicts,
        evidence=evidence,
        contradictions={ref: found.contradictions for ref, found in against.items()}
        | {one.page.ref: one.trust.contradictions for one in verdicts if one.trust.contradictions},
        problems=(*listing.problems, *mark_pages(wiki, listing.pages, trust, now=now)),
    )


def _read_best(
    pages: Collection[WikiPage], query: str, trust: Mapping[str, Trust], reranker: Reranker | None
) -> tuple[PageVerdict, ...]:
    """Read the three best pages; those that answer come first, else as they were found."""
    index = PageIndex(pages)
    read = [
        judge_page(hit, query, rarity=index.rarity, trust=trust[hit.page.ref], reranker=reranker)
        for hit in index.search(query, top_k=READ_MAX)
    ]
    return tuple(sorted(read, key=lambda one: (not one.sufficient, -(one.logit or 0.0))))


def _ask_graph(sources: WikiReaders, query: str, min_confidence: float) -> GraphEvidence | None:
    """Return None where there is no graph, or it went away."""
    if sources.graph is None:
        return None
    try:
        return gather_evidence(
            sources.chunks, sources.graph, sources.encoder, query, min_confidence=min_confidence
        )
    except StoreUnavailable:
        return None


def _of_page(sources: WikiReaders, page: WikiPage, query: str) -> ContextBundle:
    """Return the passages that a page rests on, in the order of its labels."""
    found = {chunk.id: chunk for chunk in sources.chunks.get(list(page.rests_on))}
    return bundle_page(
        [found[chunk] for chunk in page.rests_on if chunk in found],
        query,
        count_tokens=sources.encoder.count_tokens,
        generation=sources.generation,
        as_of=sources.as_of,
    )


def _found(sources: WikiReaders, evidence: GraphEvidence | None, found: ContextBundle) -> ContextBundle:
    """Return what a search found, with the chain of the graph in it."""
    found = replace(found, route=ROUTE)
    if evidence is None:
        return replace(found, degraded=tuple(sorted({*found.degraded, GRAPH})))
    return with_chain(found, evidence, sources.encoder.count_tokens)
