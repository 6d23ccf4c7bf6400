"""What a run of the loop gives an answerer: all documents, the final graph, and where each triple stands."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from retrieval.bundle.build import build_bundle, relabel
from retrieval.bundle.prompt import render_prompt
from retrieval.iterative.decision import ways_to_answer
from retrieval.iterative.graph import EntityGraph, EntityTriple, linearise, name_apart
from retrieval.iterative.loop import Iteration, answering_messages
from retrieval.iterative.state import State, rank_passages
from schemas.evidence import ContextBundle, Evidence, Query, Summary
from schemas.names import Message
from schemas.records import to_record

SUMMARIES_MAX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenLink:
    """A triple of the final graph with its provenance: `text` stands at `span` of `chunk`, read in `step`."""

    subject: str
    predicate: str
    object: str
    chunk: str
    span: tuple[int, int]
    text: str
    step: int


def list_provenance(state: State) -> tuple[ProvenLink, ...]:
    """Return every triple of the final graph with the words it rests on, in order of appearance."""
    view = state.view
    return _links(state, view, view.triples)


def evidence_chain(state: State) -> tuple[ProvenLink, ...]:
    """Return the triples from the question's entities to an answer; empty where one of them has no path."""
    paths = ways_to_answer(state)
    return _links(state, state.view, tuple(dict.fromkeys(triple for path in paths for triple in path)))


def _links(state: State, view: EntityGraph, triples: Collection[EntityTriple]) -> tuple[ProvenLink, ...]:
    texts = {one.evidence.chunk_id: one.evidence.text for one in state.passages}
    return tuple(
        ProvenLink(
            subject=name_apart(view, one.subject),
            predicate=one.statement.predicate,
            object=name_apart(view, one.object),
            chunk=one.statement.chunk,
            span=one.statement.span,
            text=texts[one.statement.chunk][slice(*one.statement.span)],
            step=one.statement.step,
        )
        for one in triples
    )


def build_final_bundle(run: Iteration, query: Query) -> ContextBundle:
    """Return all that was read, and the best of what was only found, by the best score of any step.

    A passage that was read is never cut off by `top_k`: the answer is made from all documents. Each step has
    kept the token budget; together they may have up to four times as many tokens. `diagnostics` contain the
    graph, its provenance, the evidence chain and what was asked.
    """
    ranked = rank_passages(run.state)
    kept = [one for place, one in enumerate(ranked) if one.read or place < query.top_k]
    evidence = relabel([replace(one.evidence, score=one.score) for one in kept])
    first = run.log[0].seen.bundle
    return build_bundle(
        query,
        evidence,
        _summaries(run, evidence),
        route=first.route,
        generation=first.generation,
        as_of=first.as_of,
        degraded=run.state.degraded,
        diagnostics=_describe(run.state),
    )


def _summaries(run: Iteration, evidence: Collection[Evidence]) -> tuple[Summary, ...]:
    known = {one.node: one for step in run.log for one in step.seen.bundle.summaries}
    docs = dict.fromkeys(one.doc for one in evidence)
    return tuple(known[doc] for doc in docs if doc in known)[:SUMMARIES_MAX]


def _describe(state: State) -> dict[str, Any]:
    return {
        "outcome": state.outcome.value,
        "steps": state.step,
        "asked": list(state.asked),
        "graph": linearise(state.view),
        "provenance": [to_record(one) for one in list_provenance(state)],
        "evidence_chain": [to_record(one) for one in evidence_chain(state)],
        "dropped": state.dropped,
        "notes": list(state.notes),
    }


def messages_for_answer(run: Iteration, bundle: ContextBundle) -> Sequence[Message]:
    """Return prompt of the final answer: contract, question, all evidence of *bundle*, the final graph."""
    return answering_messages(render_prompt(bundle), linearise(run.state.view))
