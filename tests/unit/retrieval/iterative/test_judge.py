"""When what was read suffices."""

from dataclasses import replace

import pytest

from retrieval.iterative.decision import coverage, judge, ways_to_answer
from retrieval.iterative.facts import EntityKind, NameMention, Statement, StepFacts
from retrieval.iterative.graph import Graph, merge
from retrieval.iterative.state import ScoredEvidence, State
from tests.fakes.novels import QUESTION, evidence

NOVEL = "Silver Harbour"


def state(
    *texts: str,
    logit: float | None = 1.0,
    joined: bool = True,
    kind: EntityKind = EntityKind.PLACE,
    question: str = QUESTION,
) -> State:
    names = ((NOVEL, EntityKind.WORK), ("Ada Quill", EntityKind.PERSON), ("Port Almond", kind))
    mentions = tuple(
        NameMention(step=1, chunk="a", span=(place, place + 1), name=name, kind=one)
        for place, (name, one) in enumerate(names)
    )
    pairs = ((NOVEL, "Ada Quill"), *((("Ada Quill", "Port Almond"),) if joined else ()))
    statements = tuple(
        Statement(step=1, chunk="a", span=(place, place + 1), subject=src, predicate="is", object=dst)
        for place, (src, dst) in enumerate(pairs)
    )
    return State(
        question=question,
        query=question,
        steps=4,
        single_hop=False,
        step=1,
        passages=tuple(
            ScoredEvidence(
                evidence=evidence(f"P{n}", text, logit=logit), score=0.5, step=1, query=question, read=True
            )
            for n, text in enumerate(texts)
        ),
        graph=merge(Graph(), StepFacts(mentions=mentions, statements=statements)),
    )


ALL = "The author of Silver Harbour was born there."


def test_words_a_path_and_a_passage_that_fits_suffice() -> None:
    assert judge(state(ALL)).sufficient


@pytest.mark.parametrize(
    ("lacking", "missing"),
    [
        (state("Silver things."), "passages cover"),
        (state(ALL, joined=False), "no path"),
        (state(ALL, kind=EntityKind.DATE), "no path"),
        (state(ALL, logit=-0.1), "no passage fits"),
        (state(ALL, logit=0.0), "no passage fits"),
    ],
)
def test_whatever_of_them_is_missing_is_said(lacking: State, missing: str) -> None:
    verdict = judge(lacking)
    assert not verdict.sufficient
    assert any(one.startswith(missing) for one in verdict.missing)


def test_without_a_cross_encoder_words_and_path_decide() -> None:
    assert judge(state(ALL, logit=None)).sufficient


def test_every_name_of_the_question_needs_a_path() -> None:
    both = state(ALL, question="Where were the authors of Silver Harbour and Tin Lantern born?")
    assert ways_to_answer(state(ALL))
    assert not ways_to_answer(both)


def test_what_the_question_names_is_no_answer() -> None:
    asked = "Where does Port Almond lie from Silver Harbour and Ada Quill?"
    assert not ways_to_answer(state(ALL, question=asked))


@pytest.mark.parametrize(
    ("text", "question", "leads"),
    [
        ("Silver Harbour is by Ada Quill.", "How long is a copy of Silver Harbour kept?", False),
        (
            "A copy is kept by Ada Quill, who is 40 years old. It is grey.",
            "How long is a copy of Silver Harbour kept?",
            True,
        ),
        ("A copy is kept until the harbour closes.", "How long is a copy of Silver Harbour kept?", True),
        ("Ada Quill is 40 years old. A copy is kept.", "How long is a copy of Silver Harbour kept?", False),
        ("Copies are kept in the cellar.", "How many copies of Silver Harbour are kept?", False),
        ("Twelve copies are kept in the cellar.", "How many copies of Silver Harbour are kept?", True),
        ("Copies are checked nightly.", "How often are copies of Silver Harbour checked?", True),
        ("Copies are checked by Ada Quill.", "How often are copies of Silver Harbour checked?", False),
    ],
)
def test_a_path_answers_how_long_only_where_a_passage_on_it_says_a_measure(
    text: str, question: str, leads: bool
) -> None:
    read = state(text, question=question)
    read = replace(
        read,
        passages=tuple(replace(one, evidence=replace(one.evidence, chunk_id="a")) for one in read.passages),
    )
    assert bool(ways_to_answer(read)) is leads


def test_rare_words_weigh_more_than_words_of_every_passage() -> None:
    passages = [evidence("A", "boat red"), evidence("B", "boat"), evidence("C", "boat")]
    assert coverage("boat", passages) == 1.0
    assert coverage("boat red", passages) == 1.0
    assert 0 < coverage("boat green", passages) < 0.1
    assert coverage("green", passages) == 0.0


def test_endings_of_words_do_not_matter() -> None:
    assert coverage("links", [evidence("A", "linked")]) == 1.0


def test_nothing_read_covers_nothing() -> None:
    assert coverage("boat", []) == 0.0
