"""Whether what was read suffices, by rules and by a model, and what to ask next."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from retrieval.graph.second_query import CARRY, best_sentence, left_open, proper_spans
from retrieval.iterative.facts import DATE, EntityKind, expected_kind, passage_title, title_and_kind
from retrieval.iterative.graph import (
    EntityGraph,
    EntityTriple,
    distances,
    named_in,
    shortest_path,
    subjects_of,
)
from retrieval.iterative.state import BARREN_MAX, LoopOutcome, ModelVerdict, ScoredEvidence, State
from retrieval.question.route import entities_of
from retrieval.question.words import STOP_WORDS, content_words, cut_sentences, fold, rarity_among, stems
from retrieval.verify.quantities import says_measure
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

    A word weighs by its rarity among the passages read.
    """
    texts = [stems(f"{passage_title(one)} {one.text}") for one in passages]
    rarity = rarity_among(texts)
    return round(rarity.cover(stems(question), rarity.counts), 6)


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


PROSE_MIN = 3
"""Words in lower case that a sentence has: a row of a table and a list of labels have names of columns."""

_ROW = re.compile(r"\s\|\s|\t|^\|")
_LOWER = re.compile(r"(?<![\w-])[a-z][\w'’-]*")


def prose_of(text: str) -> tuple[str, ...]:
    """Return the sentences of *text* that are sentences; rows of tables, labels and codes are left out."""
    lines = " \n".join(line for line in text.split("\n") if not _ROW.search(line))
    return tuple(one for one in cut_sentences(lines) if len(_LOWER.findall(one)) >= PROSE_MIN)


def names_said(sentence: str, text: str, question: str) -> list[str]:
    """Return the names and years of *sentence* that *question* lacks, in order, once each.

    One capitalised word is no name where it only opens the sentence, or is written small elsewhere in *text*
    or in the question: a heading, a column, a word at the start of an item.
    """
    small = {word.casefold() for word in _LOWER.findall(f"{text} {question}")}
    return [
        name
        for name in proper_spans(sentence)
        if fold(name) not in fold(question) and not _is_word(name, sentence, small)
    ]


def _is_word(name: str, sentence: str, small: set[str]) -> bool:
    if " " in name or not name.isalpha() or name.isupper():
        return False
    return name.casefold() in small or (sentence.startswith(name) and sentence.count(name) == 1)


def ask_of(question: str, title: str, names: list[str]) -> str:
    """Return *question* of *names* in the place of *title*; where it does not name the title, of them too.

    >>> ask_of("When did the mother of Lothair II die?", "Lothair II", ["Ermengarde of Tours", "Hugh"])
    'When did the mother of Ermengarde of Tours or Hugh die?'
    >>> ask_of("How long are records kept?", "Retention", ["Platform Group"])
    'How long are records kept, and what of Platform Group?'
    """
    asked = question.strip().rstrip("?").rstrip()
    either = " or ".join(names)
    words = r"\W+".join(map(re.escape, re.findall(r"\w+", title)))
    place = re.search(rf"(?<!\w){words}(?!\w)", asked, re.IGNORECASE) if words else None
    if place is None:
        return f"{asked}, and what of {either}?"
    return f"{asked[: place.start()]}{either}{asked[place.end() :]}?"


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
    about = {fold(passage_title(one.evidence)) for one in state.read}
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
    title = title_and_kind(passage_title(passage.evidence))[0]
    rest = [word for word in left_open(passage.query, title).split() if len(word) > 1]
    wanted = {word for word in content_words(" ".join(rest)) if word not in STOP_WORDS}
    sentence = best_sentence(prose_of(passage.evidence.text), wanted)
    names = names_said(sentence, passage.evidence.text, passage.query)
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
    about = {fold(passage_title(one.evidence)) for one in state.read}
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


def decide_next(state: State, verdict: ModelVerdict | None) -> State:
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
