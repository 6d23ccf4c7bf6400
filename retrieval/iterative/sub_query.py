"""What to ask next by rule: what the question leaves open, with names that were read and lead on."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from retrieval.graph.second_query import CARRY, best_sentence, left_open
from retrieval.iterative.expected import DATE
from retrieval.iterative.facts import EntityKind
from retrieval.iterative.named_query import ask_of, names_of, prose_of
from retrieval.iterative.passages import split_title, title_of
from retrieval.iterative.paths import distances, subjects_of
from retrieval.iterative.state import ScoredEvidence, State
from retrieval.question.relationship import entities_of
from retrieval.question.words import STOP_WORDS, content_words, fold

NAMES_MAX = 4
"""Names of the graph that a reformulated query takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuery:
    """What to ask next, and what a score of its answer counts beside one of the question's own."""

    text: str
    weight: float


def next_query(state: State) -> SubQuery | None:
    """Return the first sub-query that was not asked yet; None where none is left.

    One a passage, from the newest step's best passage on: the question that found it, with names of its best
    sentence in the place of the passage's title. Names that no read passage is about come
    first: they are where the graph ends.
    """
    asked = {fold(query) for query in state.asked}
    about = {fold(title_of(one.evidence)) for one in state.read}
    made = [
        (linked, SubQuery(text=text, weight=_weight(state, passage)))
        for passage in sorted(state.read, key=_newest_first)
        for linked, text in _sub_queries(passage, about)
        if fold(text) not in asked
    ]
    return min(made, key=lambda one: one[0])[1] if made else None


def follow_up(state: State, text: str) -> SubQuery:
    """Weigh a sub-query that a model made, from all that was read."""
    best = min(state.read, key=lambda one: -one.score, default=None)
    return SubQuery(text=text, weight=_weight(state, best) if best else 1.0)


def _weight(state: State, passage: ScoredEvidence) -> float:
    """Return .75 of what *passage* has of the best score: a follow-up is no surer than what it rests on."""
    best = max(one.score for one in state.passages)
    return round(CARRY * passage.score / best, 6) if best > 0 else CARRY


def _newest_first(passage: ScoredEvidence) -> tuple[int, float, str]:
    return (-passage.step, -passage.score, passage.evidence.chunk_id)


def _sub_queries(passage: ScoredEvidence, about: Collection[str]) -> Iterator[tuple[bool, str]]:
    """Return the sub-query of a passage, if it has one, and whether all its names are read about already."""
    title = split_title(title_of(passage.evidence))[0]
    rest = [word for word in left_open(passage.query, title).split() if len(word) > 1]
    wanted = {word for word in content_words(" ".join(rest)) if word not in STOP_WORDS}
    sentence = best_sentence(prose_of(passage.evidence.text), wanted)
    names = names_of(sentence, passage.evidence.text, passage.query)
    names.sort(key=lambda name: bool(DATE.fullmatch(name)))
    if wanted and names:
        linked = all(fold(name) in about for name in names[:NAMES_MAX])
        yield linked, ask_of(passage.query, title, names[:NAMES_MAX])


def reformulate(state: State) -> str | None:
    """Return another wording of a query that found nothing, made of the names and attributes of the graph.

    The question's own entities come first, then the nearest that no read passage is about: there the graph
    may grow. None while nothing was read, and where that was asked before.
    """
    graph = state.view
    subjects = subjects_of(state.question, graph.entities)
    far = distances(graph, subjects)
    about = {fold(title_of(one.evidence)) for one in state.read}
    ends = [place for place, one in enumerate(graph.entities) if place in far and not one.names & about]
    ends.sort(key=lambda place: (graph.entities[place].kind is EntityKind.DATE, far[place], place))
    words = [
        word
        for place in dict.fromkeys((*subjects, *ends[:NAMES_MAX]))
        for word in (graph.entities[place].name, *(value for _, value in graph.entities[place].attributes))
    ]
    query = " ".join(dict.fromkeys(words))
    return query if query and query not in state.asked else None


def is_single_hop(question: str) -> bool:
    """Whether one look should do: at most one name, and at most one word besides that says something.

    "When did Flask 3.1 ship?" is; "When did Lothair II's mother die?" asks for somebody first.
    """
    names = entities_of(question)
    named = {word for name in names for word in fold(name).split()}
    others = {word for word in content_words(question) if len(word) > 1} - named - STOP_WORDS
    return len(names) <= 1 and len(others) <= 1
