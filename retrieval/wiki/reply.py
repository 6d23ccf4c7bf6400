"""What wiki and graph say to a question, for people and for programs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from retrieval.bundle.build import build_bundle, number_evidence
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


def bundle_passages(
    passages: Collection[Chunk],
    query: str,
    *,
    count_tokens: CountTokens,
    budget: int | None,
    found: GraphEvidence | None,
    generation: int,
    as_of: str,
    degraded: tuple[str, ...],
) -> ContextBundle:
    """Number passages S1, S2, ... in their order, for an answerer and a verifier, as in any other bundle.

    The text part of a score is the share of the question's words that a passage has; no other is measured.

    Args: budget: tokens; None keeps all whole, since labels on a page are places among what it rests on.
    found: what the graph gave; None for passages that a page rests on.
    """
    if budget is None:
        budget = sum(count_tokens(chunk.text) for chunk in passages)
    asked = stems(query)
    searched = {chunk.id for chunk in found.seeds.chunks} if found else set()
    ranked = [
        Scored(
            chunk=chunk,
            scores=Scores(text=_share(asked, chunk)),
            source=_origin(chunk.id, searched, {one.id for one in found.chunks} if found else set()),
            role="bridge" if found and chunk.id not in searched else "anchor",
        )
        for chunk in passages
    ]
    return build_bundle(
        Query(text=query),
        number_evidence(ranked, count_tokens, budget=budget),
        (),
        route="wiki",
        generation=generation,
        as_of=as_of,
        degraded=degraded,
        diagnostics={},
    )


def _origin(chunk: str, searched: Collection[str], walked: Collection[str]) -> Origin:
    if chunk in walked:
        return Origin.BOTH if chunk in searched else Origin.GRAPH
    return Origin.VECTOR


def _share(asked: frozenset[str], chunk: Chunk) -> float:
    there = stems(" ".join((*chunk.heading_path, chunk.text)))
    return round(len(asked & there) / len(asked), 6) if asked else 0.0
