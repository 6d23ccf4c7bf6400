"""What to ask next by rule: what the question leaves open, with names that were read and lead on."""

from collections.abc import Iterator

from retrieval.iterative.passages import title_of
from retrieval.iterative.paths import distances, subjects_of
from retrieval.iterative.state import Passage, State
from retrieval.relationship import entities_of
from retrieval.second_query import make_sub_query, split_sentences
from retrieval.words import STOP_WORDS, content_words, fold

NAMES_MAX = 4
"""Names of the graph that a reformulated query takes."""


def next_query(state: State) -> str | None:
    """Give the first sub-query that was not asked yet; None where none is left.

    One a passage, from the newest step's best passage on: its words are those that the query which found it
    leaves open after its title, with new names of its best sentence. Names that no read passage is about come
    first: they are where the graph ends.
    """
    asked = {fold(query) for query in state.asked}
    about = {fold(title_of(one.evidence)) for one in state.read}
    open_ones = [query for query in _sub_queries(state) if fold(query) not in asked]
    return next(iter(sorted(open_ones, key=lambda query: not _leads_on(query, state, about))), None)


def _sub_queries(state: State) -> Iterator[str]:
    for passage in sorted(state.read, key=_newest_first):
        title = title_of(passage.evidence)
        query = make_sub_query(passage.query, title, split_sentences(passage.evidence.text))
        if query:
            yield query


def _newest_first(passage: Passage) -> tuple[int, float, str]:
    return (-passage.step, -round(passage.evidence.score, 6), passage.evidence.chunk_id)


def _leads_on(query: str, state: State, about: set[str]) -> bool:
    asked = {fold(name) for name in entities_of(state.question)}
    names = {fold(name) for name in entities_of(query)} - asked
    return bool(names - about)


def reformulate(state: State) -> str | None:
    """Give another wording of a query that found nothing, made of the names and attributes of the graph.

    The question's own entities come first, then those nearest to them. None while nothing was read.
    """
    graph = state.view
    far = distances(graph, subjects_of(state.question, graph.entities))
    nearest = sorted(range(len(graph.entities)), key=lambda place: (far.get(place, len(far)), place))
    told = [
        word
        for place in nearest[:NAMES_MAX]
        for word in (graph.entities[place].name, *(value for _, value in graph.entities[place].attributes))
    ]
    return " ".join(dict.fromkeys(told)) or None


def is_single_hop(question: str) -> bool:
    """Whether one look should do: at most one name, and at most one word besides that says something.

    "When did Flask 3.1 ship?" is; "When did Lothair II's mother die?" asks for somebody first.
    """
    names = entities_of(question)
    named = {word for name in names for word in fold(name).split()}
    others = {word for word in content_words(question) if len(word) > 1} - named - STOP_WORDS
    return len(names) <= 1 and len(others) <= 1
