"""Whether what was read suffices: the words of the question, a path to an answer, and the cross-encoder."""

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from retrieval.iterative.expected import expected_kind
from retrieval.iterative.graph import EntityGraph, EntityTriple
from retrieval.iterative.passages import title_of
from retrieval.iterative.paths import named_in, shortest_path
from retrieval.iterative.state import State
from retrieval.question.title_words import stems
from retrieval.question.words import fold
from retrieval.verify.measures import says_measure
from schemas.evidence import Evidence

COVERED_MIN = 0.8
LOGIT_MIN = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SufficiencyVerdict:
    """Whether to stop, and what speaks against it, a line each."""

    sufficient: bool
    missing: tuple[str, ...]


def judge(state: State) -> SufficiencyVerdict:
    """Judge by rule: sufficient if question words are covered, a path leads to an answer, a passage fits.

    Where no cross-encoder was asked, the first two decide.
    """
    read = [one.evidence for one in state.read]
    covered = coverage(state.question, read)
    best = max((one.logit for one in read if one.logit is not None), default=None)
    against = (
        (covered < COVERED_MIN, f"passages cover {covered:.2f} of the question's words"),
        (not ways_to_answer(state), "no path leads from the question to an answer"),
        (best is not None and best <= LOGIT_MIN, "no passage fits the question"),
    )
    missing = tuple(reason for applies, reason in against if applies)
    return SufficiencyVerdict(sufficient=not missing, missing=missing)


def coverage(question: str, passages: Collection[Evidence]) -> float:
    """Return the share of the question's words that stand in *passages*, in [0, 1].

    A word weighs `ln(1 + (n - df + .5) / (df + .5))`, its idf among the passages read: one that stands
    everywhere weighs little, one that stands nowhere most.
    """
    texts = [stems(f"{title_of(one)} {one.text}") for one in passages]
    held = Counter(word for text in texts for word in text)
    weights = {
        word: math.log(1 + (len(texts) - held[word] + 0.5) / (held[word] + 0.5))
        for word in sorted(stems(question))
    }
    found = math.fsum(weight for word, weight in weights.items() if held[word])
    return round(found / math.fsum(weights.values()), 6) if weights else 0.0


def ways_to_answer(state: State) -> tuple[tuple[EntityTriple, ...], ...]:
    """Return the paths from each entity that the question names to one of the kind it asks for; else none.

    Every name of the question must be in the graph, and a question without names has no path to begin. An
    answer to "how long" or "how many" is no entity: a passage on the paths must say such a measure.
    """
    paths = paths_to_answer(state.view, state.question)
    on_them = {triple.statement.chunk for path in paths for triple in path}
    texts = [one.evidence.text for one in state.read if one.evidence.chunk_id in on_them]
    return paths if says_measure(state.question, texts) else ()


def paths_to_answer(graph: EntityGraph, question: str) -> tuple[tuple[EntityTriple, ...], ...]:
    """Return the shortest path from each entity that *question* names to an answer; empty if one has none.

    Of several entities that a name may mean the first that has a path counts.
    """
    goals = answers_of(graph, question)
    paths = [
        next((path for place in sorted(meant) if (path := shortest_path(graph, place, goals))), ())
        for meant in named_in(question, graph.entities)
    ]
    return tuple(paths) if all(paths) else ()


def answers_of(graph: EntityGraph, question: str) -> frozenset[int]:
    """Return the entities that may answer: not named by the question, and of the kind that it asks for."""
    kind = expected_kind(question)
    asked = f" {fold(question)} "
    return frozenset(
        place
        for place, one in enumerate(graph.entities)
        if kind in {None, one.kind} and not any(f" {name} " in asked for name in one.names)
    )
