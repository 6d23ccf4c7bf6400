"""A model's verdict on a step, read from its tags, and the decision that follows from it or the rules."""

import re
from dataclasses import replace

from retrieval.iterative.judge import judge, ways_to_answer
from retrieval.iterative.state import BARREN_MAX, LoopOutcome, ModelVerdict, State
from retrieval.iterative.sub_query import follow_up, next_query
from retrieval.question.words import fold

SUB_QUERY_MAX = 400
_JUDGEMENT = re.compile(r"<judgement>\s*(sufficient|insufficient)\s*</judgement>", re.IGNORECASE)
_SUB_QUERY = re.compile(r"<subquery>([^<]+)</subquery>", re.IGNORECASE)


def parse_reasoning(text: str) -> ModelVerdict | None:
    """Read the tags; None where the judgement is missing, broken or both, or lacks its sub-query."""
    judged = {word.casefold() for word in _JUDGEMENT.findall(text)}
    asked = [" ".join(one.split())[:SUB_QUERY_MAX] for one in _SUB_QUERY.findall(text)]
    sub_query = next((one for one in asked if one), None)
    if len(judged) != 1 or (judged == {"insufficient"} and sub_query is None):
        return None
    return ModelVerdict(sufficient=judged == {"sufficient"}, sub_query=sub_query, reasoning=text.strip())


def decide(state: State, verdict: ModelVerdict | None) -> State:
    """End the loop, or give it the next query, from a model's verdict or, without one, by rule.

    "Sufficient" holds only with a path from the question's entities to the kind of answer it asks for; a
    model that says it too early is asked to go on.
    """
    if state.single_hop:
        return replace(state, outcome=LoopOutcome.SINGLE_HOP)
    sufficient, notes = _suffices(state, verdict)
    state = replace(state, notes=(*state.notes, *(f"step {state.step}: {note}" for note in notes)))
    if sufficient:
        return replace(state, outcome=LoopOutcome.SUFFICIENT)
    if state.step >= state.steps:
        return replace(state, outcome=LoopOutcome.STEPS_SPENT)
    if state.barren >= BARREN_MAX:
        return replace(state, outcome=LoopOutcome.NOTHING_NEW)
    query = follow_up(state, verdict.sub_query) if verdict and verdict.sub_query else next_query(state)
    if query is None or fold(query.text) in {fold(one) for one in state.asked}:
        return replace(state, outcome=LoopOutcome.NO_QUERY_LEFT)
    return replace(state, query=query.text, weight=query.weight)


def _suffices(state: State, verdict: ModelVerdict | None) -> tuple[bool, tuple[str, ...]]:
    if verdict is None:
        by_rules = judge(state)
        return by_rules.sufficient, by_rules.missing
    if not verdict.sufficient:
        return False, ()
    if ways_to_answer(state):
        return True, ()
    return False, ("judged sufficient too early: no path leads from the question to an answer",)
