"""What one step of the loop sees: passages, facts from graph, model or rules, a judgement."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from indexes.ports import GraphReader, Reranker
from retrieval.iterative.facts import StepFacts
from retrieval.iterative.graph import merge
from retrieval.iterative.index_reader import read_from_index
from retrieval.iterative.linearise import linearise
from retrieval.iterative.model_reader import parse_facts
from retrieval.iterative.passages import title_of
from retrieval.iterative.prompts import READ_SCHEMA, reading_messages, reasoning_messages
from retrieval.iterative.reasoning import parse_reasoning
from retrieval.iterative.rule_reader import read_by_rule
from retrieval.iterative.state import READ_MAX, LoopStep, ModelVerdict, Observation, State, absorb, choose_new
from retrieval.iterative.sub_query import reformulate
from schemas.errors import SitegraphError, StoreUnavailable
from schemas.evidence import ContextBundle, Evidence, Query
from schemas.extraction import Complete, Message

TRIES = 2
"""Times a model is asked for one thing: once more where its answer misses a tag or is no JSON."""

Notes = tuple[str, ...]
T = TypeVar("T")


class PassageRetriever(Protocol):
    """What gives the evidence for one query: a `Retriever`, or one that follows its index."""

    def retrieve(self, query: Query) -> ContextBundle:
        """Return the evidence for *query*, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPorts:
    """All that a step may ask; without a model the rules read and judge. *query* is the run's own."""

    retriever: PassageRetriever
    graph: GraphReader | None
    reranker: Reranker | None
    complete: Complete | None
    query: Query


def take_step(sources: StepPorts, state: State) -> LoopStep:
    """Ask the outside for one step; what it means for *state* is `loop.advance`'s to say.

    A question that one look should answer is only looked up.
    """
    if state.single_hop:
        return LoopStep(seen=Observation(query=state.query, bundle=_passages(sources, state.query)))
    seen = _look(sources, state)
    if sources.complete is None:
        return LoopStep(seen=seen)
    said, notes = _reason(sources.complete, absorb(state, seen))
    return LoopStep(seen=seen, said=said, notes=notes)


def _look(sources: StepPorts, state: State) -> Observation:
    text, bundle, notes = _retrieve(sources, state)
    new = choose_new(state, bundle)
    known, missing = _known(sources.graph, new, state.step + 1)
    facts, failed = _read(sources.complete, state, new, known)
    return Observation(
        query=text,
        bundle=bundle,
        facts=facts,
        logits=_logits(sources.reranker, state.question, new),
        notes=(*notes, *missing, *failed),
    )


def _retrieve(sources: StepPorts, state: State) -> tuple[str, ContextBundle, Notes]:
    """Ask the step's query; where it finds nothing new, once more in words of the graph."""
    bundle = _passages(sources, state.query)
    other = None if choose_new(state, bundle) else reformulate(state)
    if other is None:
        return state.query, bundle, ()
    again = _passages(sources, other)
    return other, again, (f"found nothing new, asked in words of the graph: {other}",)


def _passages(sources: StepPorts, text: str) -> ContextBundle:
    """Find at least as many as a step reads, however few the answer should show."""
    top_k = max(sources.query.top_k, READ_MAX)
    return sources.retriever.retrieve(replace(sources.query, text=text, top_k=top_k))


def _known(graph: GraphReader | None, new: Collection[Evidence], step: int) -> tuple[StepFacts, Notes]:
    """Ask the index's own graph before anything is read again."""
    if graph is None or not new:
        return StepFacts(), ()
    try:
        return read_from_index(graph, new, step=step), ()
    except StoreUnavailable as error:
        return StepFacts(), (f"the index's graph was not asked: {error}",)


def _read(
    complete: Complete | None, state: State, new: tuple[Evidence, ...], known: StepFacts
) -> tuple[StepFacts, Notes]:
    """Add to what is *known* what a model reads, or else the rules."""
    step = state.step + 1
    notes: Notes = ()
    if complete is not None and new:
        graph = linearise(replace(state, graph=merge(state.graph, known)).view)
        messages = reading_messages(state.question, graph, new)
        facts, notes = _ask_twice(
            complete, messages, READ_SCHEMA, lambda text: parse_facts(text, new, step=step), "facts"
        )
        if facts is not None:
            return _together(known, facts), ()
    return _together(known, read_by_rule(new, known, step=step)), notes


def _together(known: StepFacts, read: StepFacts) -> StepFacts:
    return StepFacts(
        mentions=(*known.mentions, *read.mentions),
        statements=(*known.statements, *read.statements),
        dropped=known.dropped + read.dropped,
    )


def _reason(complete: Complete, state: State) -> tuple[ModelVerdict | None, Notes]:
    messages = reasoning_messages(state.question, linearise(state.view), [one.evidence for one in state.read])
    return _ask_twice(complete, messages, None, parse_reasoning, "judgement")


def _ask_twice(
    complete: Complete,
    messages: Sequence[Message],
    schema: Mapping[str, Any] | None,
    parse: Callable[[str], T | None],
    wanted: str,
) -> tuple[T | None, Notes]:
    """Ask once more where the answer cannot be read; then, or where none comes, say that rules decide."""
    for _ in range(TRIES):
        try:
            answer = parse(complete(messages, schema))
        except SitegraphError as error:
            return None, (f"no {wanted} from the model, rules decide: {error}",)
        if answer is not None:
            return answer, ()
    return None, (f"no {wanted} in {TRIES} answers of the model, rules decide",)


def _logits(
    reranker: Reranker | None, question: str, new: Collection[Evidence]
) -> tuple[tuple[str, float], ...]:
    if reranker is None or not new:
        return ()
    logits = reranker.score_pairs(question, [f"{title_of(one)}\n{one.text}" for one in new])
    return tuple((one.chunk_id, logit) for one, logit in zip(new, logits, strict=True))
