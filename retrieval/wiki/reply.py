"""What wiki and graph say to a question, for people and for programs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from retrieval.bundle.build import build_bundle, cite, number_evidence, unscored_evidence
from retrieval.bundle.token_budget import CountTokens
from retrieval.ranking.score import Scored
from retrieval.wiki.evidence import GraphEvidence, documents_record
from retrieval.wiki.page import Contradiction, PageProblem, WikiPage
from retrieval.wiki.sufficiency import PageVerdict
from retrieval.wiki.words import stems
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
    asked = stems(query)
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
        scored.get(chunk.id) or unscored_evidence(chunk, "", source=Origin.GRAPH, role="bridge")
        for chunk in found.of_chain
    ]
    others = [one for one in bundle.evidence if one not in chain]
    left = sum(count_tokens(one.text) for one in bundle.evidence)
    left -= sum(count_tokens(one.text) for one in chain)
    kept = [one for one in others if (left := left - count_tokens(one.text)) >= 0]
    ordered = (*chain, *kept) if found.is_asked_for else (*kept, *chain)
    numbered = tuple(replace(one, S=f"S{number}") for number, one in enumerate(ordered, start=1))
    return replace(bundle, evidence=numbered, citations=tuple(cite(one) for one in numbered))


def _share(asked: frozenset[str], chunk: Chunk) -> float:
    there = stems(" ".join((*chunk.heading_path, chunk.text)))
    return round(len(asked & there) / len(asked), 6) if asked else 0.0
