"""What is asked next."""

import pytest

from retrieval.iterative.decision import SubQuery, follow_up, is_single_hop, next_query, reformulate
from retrieval.iterative.facts import EntityKind, NameMention, StepFacts
from retrieval.iterative.graph import Graph, merge
from retrieval.iterative.state import ScoredEvidence, State
from tests.fakes.novels import QUESTION, evidence


def passage(title: str, text: str, *, score: float, step: int = 1, query: str = QUESTION) -> ScoredEvidence:
    return ScoredEvidence(evidence=evidence(title, text), score=score, step=step, query=query, read=True)


def state(
    *passages: ScoredEvidence, asked: tuple[str, ...] = (QUESTION,), facts: StepFacts | None = None
) -> State:
    return State(
        question=QUESTION,
        query=QUESTION,
        steps=4,
        single_hop=False,
        step=max((one.step for one in passages), default=0),
        asked=asked,
        passages=passages,
        graph=merge(Graph(), facts or StepFacts()),
    )


NOVEL = passage("Silver Harbour", "Silver Harbour is by the author Ada Quill.", score=0.8)


def test_what_is_asked_of_the_title_is_asked_of_the_names_that_its_passage_has() -> None:
    assert next_query(state(NOVEL)) == SubQuery(text="Where was the author of Ada Quill born?", weight=0.75)


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        (
            "How are GOV-0099 and ADR-0042 related?",
            "Cold storage",
            "| Cold | Integer | Default of the cold store |",
        ),
        ("How are GOV-0099 and ADR-0042 related?", "Cold storage", "Cold: Integer. Default: Five."),
        (
            "How is the size of tapes set?",
            "Tapes",
            "Integer that is related to the size of tapes. The integer is set.",
        ),
    ],
)
def test_columns_labels_and_words_that_only_open_a_sentence_are_no_names_to_ask_for(
    question: str, title: str, text: str
) -> None:
    assert next_query(state(passage(title, text, score=0.8, query=question))) is None


def test_a_sub_query_is_a_question_in_the_words_of_the_one_that_found_the_passage() -> None:
    question = "How are GOV-0099 and ADR-0042 related?"
    one = passage(
        "Cold storage", "It is related to tapes, which the Platform Group keeps.", score=0.8, query=question
    )
    query = next_query(state(one))
    assert query is not None
    assert query.text == "How are GOV-0099 and ADR-0042 related, and what of Platform Group?"


def test_names_come_before_years() -> None:
    one = passage("Silver Harbour", "In 1931 the author Ada Quill wrote it.", score=0.8)
    query = next_query(state(one))
    assert query is not None
    assert query.text == "Where was the author of Ada Quill or 1931 born?"


def test_names_that_a_read_passage_is_about_lead_nowhere_new() -> None:
    author = passage("Ada Quill", "The author was born near Port Almond.", score=0.4)
    query = next_query(state(NOVEL, author))
    assert query is not None
    assert query.text.endswith("Port Almond?")


def test_a_follow_up_is_no_surer_than_what_it_rests_on() -> None:
    author = passage("Ada Quill", "The author was born near Port Almond.", score=0.4)
    query = next_query(state(NOVEL, author))
    assert query is not None
    assert query.weight == 0.375
    assert follow_up(state(NOVEL, author), "Where was Ada Quill born?").weight == 0.75


def test_the_newest_passages_ask_first_in_the_words_of_what_found_them() -> None:
    author = passage(
        "Ada Quill",
        "She was born near Port Almond.",
        score=0.4,
        step=2,
        query="Where was the author born Ada Quill",
    )
    query = next_query(state(NOVEL, author))
    assert query is not None
    assert query.text == "Where was the author born Port Almond?"


def test_no_sub_query_is_asked_twice() -> None:
    assert next_query(state(NOVEL, asked=(QUESTION, "WHERE was the author of ada quill born"))) is None


def test_where_nothing_new_is_named_nothing_is_asked() -> None:
    assert next_query(state(passage("Silver Harbour", "the author is not known.", score=0.8))) is None


def mention(name: str, at: int, kind: EntityKind = EntityKind.THING, **fields: object) -> NameMention:
    return NameMention(
        step=1, chunk="chunk:Silver Harbour", span=(at, at + 1), name=name, kind=kind, **fields
    )  # type: ignore[arg-type]


def test_a_reformulated_query_is_made_of_names_and_attributes_of_the_graph() -> None:
    facts = StepFacts(mentions=(mention("Silver Harbour", 0, attributes=(("kind", "novel"),)),))
    assert reformulate(state(NOVEL, facts=facts)) == "Silver Harbour novel"


def test_nothing_is_reformulated_from_an_empty_graph_or_twice() -> None:
    facts = StepFacts(mentions=(mention("Silver Harbour", 0),))
    assert reformulate(state(NOVEL)) is None
    assert reformulate(state(NOVEL, asked=("Silver Harbour",), facts=facts)) is None


@pytest.mark.parametrize(
    ("question", "single"),
    [
        ("Who wrote the Backup Guide?", True),
        ("When did Flask 3.1 ship?", True),
        ("What is GPS?", True),
        ("When did Lothair II's mother die?", False),
        ("Are Marufabad and Nasamkhrali both in one country?", False),
        ("What university did the spouse of the author of To Kill a Mockingbird attend?", False),
    ],
)
def test_one_look_is_enough_for_one_name_and_one_thing_about_it(question: str, single: bool) -> None:
    assert is_single_hop(question) is single
