"""The GraphAnchor loop: retrieve, read what is new into a graph, judge, ask again; at most four steps.

Source: Graph-Anchored Knowledge Indexing for Retrieval-Augmented Generation (Liu et al., 2026), section 3.
What is decided is decided by pure functions of `State`; this module asks the stores and the model.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from indexes.ports import GraphReader, Reranker
from retrieval.iterative.reasoning import decide
from retrieval.iterative.sources import PassageRetriever, StepPorts, take_step
from retrieval.iterative.state import STEPS_MAX, LoopOutcome, LoopStep, State, absorb
from retrieval.iterative.sub_query import is_single_hop
from schemas.errors import ConfigError, StoreUnavailable
from schemas.evidence import Query
from schemas.extraction import Complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """A run of the loop: where it stands, and the log of all that it saw from outside."""

    state: State
    log: tuple[LoopStep, ...] = ()


def _tell_nobody(_step: LoopStep, _state: State) -> None:
    """Nobody watches."""


def iterate(
    retriever: PassageRetriever,
    graph: GraphReader | None,
    query: Query,
    *,
    reranker: Reranker | None = None,
    complete: Complete | None = None,
    steps: int = STEPS_MAX,
    on_step: Callable[[LoopStep, State], None] = _tell_nobody,
    resume: Iteration | None = None,
) -> Iteration:
    """Run the loop for *query* to its end, or on from where *resume* stands.

    Without *complete* rules read, judge and ask; with it a model does, and rules take over where it fails.
    Of *query*, filters and limits hold in every step. *on_step* is told of each step as it ends.

    Raises: ConfigError: *steps* out of 1 to 4, or *resume* is of another question or generation;
    StoreUnavailable: a generation was published between two steps; what *retriever* raises.
    """
    sources = StepPorts(retriever=retriever, graph=graph, reranker=reranker, complete=complete, query=query)
    run = resume or Iteration(state=start(query.text, steps=steps))
    if run.state.question != query.text:
        raise ConfigError(f"is a run of another question: {run.state.question!r}", subject=query.text)
    while run.state.outcome is LoopOutcome.OPEN:
        step = take_step(sources, run.state)
        _check_generation(run, step, resumed=run is resume)
        run = Iteration(state=advance(run.state, step), log=(*run.log, step))
        on_step(step, run.state)
    return run


def _check_generation(run: Iteration, step: LoopStep, *, resumed: bool) -> None:
    """Refuse to mix passages of two generations, or of two indexes: one answer is made from one."""
    before = run.log[-1].seen.bundle.generation if run.log else step.seen.bundle.generation
    found = step.seen.bundle.generation
    if before == found:
        return
    if resumed:
        message = f"saw generation {before}, and this index is at {found}; ask the question again"
        raise ConfigError(message, subject="saved run")
    message = f"went on from generation {before} to {found} while a question was asked; ask it again"
    raise StoreUnavailable(message, subject="index")


def start(question: str, *, steps: int = STEPS_MAX) -> State:
    """Return the state before the first step; `steps=2` is the fast mode.

    Raises: ConfigError: *steps* is not 1 to 4.
    """
    if not 1 <= steps <= STEPS_MAX:
        raise ConfigError(f"must lie between 1 and {STEPS_MAX}, not {steps}", subject="steps")
    return State(question=question, query=question, steps=steps, single_hop=is_single_hop(question))


def advance(state: State, step: LoopStep) -> State:
    """Return the state after *step*; from the same state and step always the same."""
    return _noted(decide(absorb(state, step.seen), step.said), step.notes)


def replay(question: str, log: Collection[LoopStep], *, steps: int = STEPS_MAX) -> State:
    """Return the state that a run with this *log* ended in, without stores and without a model."""
    state = start(question, steps=steps)
    for step in log:
        state = advance(state, step)
    return state


def _noted(state: State, notes: Collection[str]) -> State:
    return replace(state, notes=(*state.notes, *(f"step {state.step}: {note}" for note in notes)))
