"""A run of the loop as a value: what was asked, found and read, and whether to go on."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from retrieval.iterative.facts import StepFacts
from retrieval.iterative.graph import EntityGraph, Graph, merge, prune_graph, resolve
from schemas.evidence import ContextBundle, Evidence

STEPS_MAX = 4
"""More bring next to nothing (GraphAnchor); a caller may ask for fewer, never for more."""
READ_MAX = 5
"""New passages read in one step, the best found (GraphAnchor's k)."""
BARREN_MAX = 2
"""Steps in a row that find nothing new, after which the loop ends."""


class LoopOutcome(StrEnum):
    """Why the loop ended, or that it has not."""

    OPEN = "open"
    SUFFICIENT = "sufficient"
    STEPS_SPENT = "steps spent"
    NO_QUERY_LEFT = "no query left"
    NOTHING_NEW = "nothing new"
    SINGLE_HOP = "single hop"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredEvidence:
    """A passage with the best score it had in any step: the blend's, by the weight of that step's query.

    `read` says whether its facts are in the graph; `step` and `query` are those that had it read, else that
    found it.
    """

    evidence: Evidence
    score: float
    step: int
    query: str
    read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one step learnt from outside: the bundle of its query, and what was read from the new passages.

    `query` is what was asked in the end, the reformulated one where the first found nothing.
    """

    query: str
    bundle: ContextBundle
    facts: StepFacts = field(default_factory=StepFacts)
    logits: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerdict:
    """A model's verdict on a step: whether the evidence suffices, and what to ask next."""

    sufficient: bool
    sub_query: str | None
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStep:
    """One line of a run's log: all that came from outside, so that a run can be replayed without it.

    `said` is None where rules judged; `notes` say why, where a model should have.
    """

    seen: Observation
    said: ModelVerdict | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything known after some steps. `query` is what the next step asks; `asked` is what was asked.

    `weight` is what a score of the next step counts beside one of the first: a follow-up is as sure as what
    it takes its words from.
    `passages` are in the order found. `barren` counts the last steps in a row that found nothing new.
    """

    question: str
    query: str
    steps: int
    single_hop: bool
    weight: float = 1.0
    step: int = 0
    asked: tuple[str, ...] = ()
    passages: tuple[ScoredEvidence, ...] = ()
    graph: Graph = field(default_factory=Graph)
    dropped: int = 0
    barren: int = 0
    degraded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcome: LoopOutcome = LoopOutcome.OPEN

    @property
    def read(self) -> tuple[ScoredEvidence, ...]:
        """The passages whose facts are in the graph."""
        return tuple(one for one in self.passages if one.read)

    @property
    def view(self) -> EntityGraph:
        """The graph as it is shown and judged by: merged, and without what is far from the question."""
        return prune_graph(resolve(self.graph), self.question)


def choose_new(state: State, bundle: ContextBundle) -> tuple[Evidence, ...]:
    """Return the best 5 passages of *bundle* that no step has read; these, and no others, are read."""
    known = {one.evidence.chunk_id for one in state.read}
    return tuple(one for one in bundle.evidence if one.chunk_id not in known)[:READ_MAX]


def absorb(state: State, seen: Observation) -> State:
    """Add what a step saw: passages, each at the best score it ever had, and the facts of the new ones."""
    step = state.step + 1
    new = {one.chunk_id for one in choose_new(state, seen.bundle)} if not state.single_hop else set()
    logits = dict(seen.logits)
    passages = {one.evidence.chunk_id: one for one in state.passages}
    for one in seen.bundle.evidence:
        found = ScoredEvidence(
            evidence=replace(one, logit=logits.get(one.chunk_id, one.logit)),
            score=round(state.weight * one.score, 6),
            step=step,
            query=seen.query,
            read=one.chunk_id in new,
        )
        passages[one.chunk_id] = _better(passages.get(one.chunk_id), found)
    return replace(
        state,
        step=step,
        asked=tuple(dict.fromkeys((*state.asked, state.query, seen.query))),
        passages=tuple(passages.values()),
        graph=merge(state.graph, seen.facts),
        dropped=state.dropped + seen.facts.dropped,
        barren=0 if new else state.barren + 1,
        degraded=tuple(sorted({*state.degraded, *seen.bundle.degraded})),
        notes=(*state.notes, *(f"step {step}: {note}" for note in seen.notes)),
    )


def _better(before: ScoredEvidence | None, found: ScoredEvidence) -> ScoredEvidence:
    """Keep the better evidence, who found it first, and what was said of it when it was read."""
    if before is None:
        return found
    best = found if found.score > before.score else before
    reader = found if found.read else before
    return ScoredEvidence(
        evidence=replace(best.evidence, logit=reader.evidence.logit),
        score=best.score,
        step=reader.step,
        query=reader.query,
        read=found.read or before.read,
    )


def rank_passages(state: State) -> tuple[ScoredEvidence, ...]:
    """Return all passages by the best score that any step gave them, then by id."""
    return tuple(sorted(state.passages, key=lambda one: (-one.score, one.evidence.chunk_id)))
