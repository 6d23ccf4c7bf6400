"""The wiki before the graph: an answer from a page that may be trusted, else the graph's evidence."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from indexes.ports import ChunkReader, Encoder, GraphReader, Reranker
from retrieval.bundle.build import (
    CountTokens,
    build_bundle,
    cite,
    evidence_of,
    number_evidence,
    relabel,
    without_graph,
)
from retrieval.question.words import full_stems
from retrieval.ranking.score import Scored
from retrieval.wiki.evidence import GraphEvidence, documents_record, gather_evidence
from retrieval.wiki.page import Contradiction, PageIndex, PageProblem, WikiPage
from retrieval.wiki.store import Wiki
from retrieval.wiki.subgraph import facts_of
from retrieval.wiki.sufficiency import PageVerdict, judge_page
from retrieval.wiki.trust import Trust, contradicted_by, mark_pages, read_trust
from schemas.errors import StoreUnavailable
from schemas.evidence import ContextBundle, Origin, Query, Scores
from schemas.nodes import Chunk
from schemas.records import Record, to_record

NOT_ASKED = "Answered from the wiki; the graph was not asked."
NO_GRAPH = "The graph could not be asked."
ROUTE = "wiki"
_EMPTY: Record = {"nodes": {}, "edges": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiAnswer:
    """The page that answers, or what the graph has.

    `bundle` contains the passages to cite: those the page rests on, under the labels that it uses, else those
    behind the graph's evidence. `verdicts` are of the pages that were read. `evidence` is None where the
    graph was not asked. `contradictions` are by `category/slug` of the page that they are on.
    """

    query: str
    bundle: ContextBundle
    verdicts: tuple[PageVerdict, ...]
    evidence: GraphEvidence | None
    contradictions: Mapping[str, tuple[Contradiction, ...]]
    problems: tuple[PageProblem, ...]

    @property
    def page(self) -> WikiPage | None:
        """The page that answers; None where none does."""
        return self._answering.page if self._answering else None

    @property
    def text(self) -> str:
        """Its section that fits the question best; empty where no page answers."""
        section = self._answering.section if self._answering else None
        return section.text if section else ""

    @property
    def _answering(self) -> PageVerdict | None:
        return next((one for one in self.verdicts if one.sufficient), None)

    def to_record(self) -> Record:
        """Return the contract that docs/wiki.md lists, key by key."""
        return {
            **self._found(),
            "wiki_references": [reference_record(one) for one in self.verdicts],
            "answered_from": "wiki" if self.page else "graph",
            "text": self.text,
            "citations": [to_record(one) for one in self.bundle.citations],
            "contradictions": [
                {"on": ref, **to_record(one)}
                for ref in sorted(self.contradictions)
                for one in self.contradictions[ref]
            ],
            "problems": [to_record(one) for one in self.problems],
            "degraded": list(self.bundle.degraded),
            "generation": self.bundle.generation,
        }

    def _found(self) -> Record:
        if self.evidence:
            return self.evidence.to_record()
        passages = [(one.doc, one.heading_path, one.chunk_id, one.text) for one in self.bundle.evidence]
        return {
            "query": self.query,
            "subgraph": dict(_EMPTY),
            "supporting_documents": documents_record(
                [(doc, chunk, text) for doc, _, chunk, text in passages],
                {doc: trail[0] for doc, trail, _, _ in passages if trail},
            ),
            "evidence_chain": NOT_ASKED if self.page else NO_GRAPH,
            "chain": [],
        }


def reference_record(verdict: PageVerdict) -> Record:
    """Return a page that was read, with what was found of it."""
    page = verdict.page
    return {
        "category": page.category,
        "slug": page.slug,
        "title": page.title,
        "summary": page.summary,
        "status": verdict.trust.status.value,
        "sufficient": verdict.sufficient,
        "coverage": verdict.coverage,
        "logit": verdict.logit,
        "reasons": list(verdict.reasons),
        "stale_chunks": list(verdict.trust.stale),
        "moved_sets": list(verdict.trust.moved),
        "rests_on": list(page.rests_on),
    }


def bundle_page(
    passages: Collection[Chunk], query: str, *, count_tokens: CountTokens, generation: int, as_of: str
) -> ContextBundle:
    """Number the passages that a page rests on S1, S2, ... in its order, and keep them whole.

    Labels on a page are places among what it rests on. The text part of a score is the share of the
    question's words that a passage has; no other is measured.
    """
    asked = full_stems(query)
    ranked = [
        Scored(chunk=chunk, scores=Scores(text=_share(asked, chunk)), source=Origin.VECTOR, role="anchor")
        for chunk in passages
    ]
    whole = sum(count_tokens(chunk.text) for chunk in passages)
    return build_bundle(
        Query(text=query),
        number_evidence(ranked, count_tokens, budget=whole),
        (),
        route=ROUTE,
        generation=generation,
        as_of=as_of,
        degraded=(),
        diagnostics={},
    )


def with_chain(bundle: ContextBundle, found: GraphEvidence, count_tokens: CountTokens) -> ContextBundle:
    """Put the passages behind the chain into what a search found, in its room.

    They come first where the chain joins two things that the question names, else last. What was found
    worst gives way.
    """
    scored = {one.chunk_id: one for one in bundle.evidence}
    chain = [
        scored.get(chunk.id) or evidence_of(chunk, "", source=Origin.GRAPH, role="bridge")
        for chunk in found.of_chain
    ]
    others = [one for one in bundle.evidence if one not in chain]
    left = sum(count_tokens(one.text) for one in bundle.evidence)
    left -= sum(count_tokens(one.text) for one in chain)
    kept = [one for one in others if (left := left - count_tokens(one.text)) >= 0]
    ordered = (*chain, *kept) if found.is_asked_for else (*kept, *chain)
    numbered = relabel(ordered)
    return replace(bundle, evidence=numbered, citations=tuple(cite(one) for one in numbered))


def _share(asked: frozenset[str], chunk: Chunk) -> float:
    there = full_stems(" ".join((*chunk.heading_path, chunk.text)))
    return round(len(asked & there) / len(asked), 6) if asked else 0.0


READ_MAX = 3
"""Pages that are read for a question."""


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
) -> WikiAnswer:
    """Answer from the best page that passes the whole test, else gather evidence from the graph.

    The graph is not asked where a page answers, but for the sets that pages range over; one that does not
    reply is `degraded` and no error, and passages then come from *retrieve* alone. What is found of pages
    (stale, contradicted) is written on them, where the wiki can be written to.

    Args: query: one line. retrieve: what a search finds for it, asked where no page answers. now: ISO 8601,
    for pages whose status changes.
    Raises: StoreUnavailable: the chunk store, or the folder of the wiki, cannot be read.
    """
    listing = wiki.list()
    trust = read_trust(sources.chunks, sources.graph, listing.pages)
    verdicts = _read_best(listing.pages, query, trust, reranker)
    page = next((one.page for one in verdicts if one.sufficient), None)
    evidence = None if page else _ask_graph(sources, query)
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


def _ask_graph(sources: WikiReaders, query: str) -> GraphEvidence | None:
    """Return None where there is no graph, or it went away."""
    if sources.graph is None:
        return None
    try:
        return gather_evidence(sources.chunks, sources.graph, sources.encoder, query)
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
        return without_graph(found)
    return with_chain(found, evidence, sources.encoder.count_tokens)
