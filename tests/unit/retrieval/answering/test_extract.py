"""Sentences of the evidence as an answer."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from retrieval.answering.extract import SENTENCES_MAX, extract_answer, rank_candidates
from retrieval.question.query import build_query
from retrieval.retriever import Retriever
from schemas.evidence import ContextBundle
from tests.fakes.small_index import AS_OF, GENERATION, build_index, page

QUESTION = "who keeps the great key"


@pytest.fixture(scope="module")
def bundle() -> ContextBundle:
    index = build_index(
        [
            page("keys", {"Great key": "It is old. The night porter keeps the great key. He sleeps by day."}),
            page("list", {"List of keys": "- great key: porter\n- small key: maid\n\n1 2 3"}),
            page("copy", {"Great key again": "The night porter keeps the great key."}),
            page("long", {"Listing": f"great key keeps {'x ' * 400}."}),
        ],
        [],
    )
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return retriever.retrieve(build_query(QUESTION))


class Scripted:
    """A cross-encoder that knows what it will say."""

    def __init__(self, **logits: float) -> None:
        self.logits = logits

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(
            max((logit for word, logit in self.logits.items() if word in text), default=-5.0)
            for text in texts
        )


def test_a_sentence_is_there_once_with_the_label_of_the_better_evidence(bundle: ContextBundle) -> None:
    candidates = rank_candidates(QUESTION, bundle.evidence)
    texts = [one.text for one in candidates]
    assert texts.count("The night porter keeps the great key.") == 1
    best = next(one for one in candidates if one.text == "The night porter keeps the great key.")
    holders = [one.S for one in bundle.evidence if best.text in one.text]
    assert holders[0] == best.evidence.S
    assert len(holders) == 2


def test_lines_of_a_list_are_sentences_and_endless_ones_and_bare_numbers_are_not(
    bundle: ContextBundle,
) -> None:
    texts = {one.text for one in rank_candidates(QUESTION, bundle.evidence)}
    assert "- great key: porter" in texts
    assert not any(text.startswith(("1 2 3", "great key keeps x")) for text in texts)


def test_the_sentence_that_holds_most_of_the_question_is_first(bundle: ContextBundle) -> None:
    assert rank_candidates(QUESTION, bundle.evidence)[0].text == "The night porter keeps the great key."


def test_the_cross_encoder_takes_what_is_above_zero_and_near_the_best(bundle: ContextBundle) -> None:
    answer = extract_answer(bundle, reranker=Scripted(porter=6.0, sleeps=3.5, old=2.5))
    assert {one.text for one in answer.sentences} >= {"He sleeps by day."}
    assert "It is old." not in answer.text
    assert all(one.logit is not None and one.logit >= 3.0 for one in answer.sentences)


def test_there_are_at_most_three_in_the_order_of_the_evidence(bundle: ContextBundle) -> None:
    answer = extract_answer(bundle, reranker=Scripted(key=2.0, old=1.0, sleeps=1.5))
    labels = [int(one.S[1:]) for one in answer.sentences if one.S]
    assert len(labels) == SENTENCES_MAX
    assert labels == sorted(labels)


def test_where_nothing_is_above_zero_nothing_is_found(bundle: ContextBundle) -> None:
    answer = extract_answer(bundle, reranker=Scripted(key=0.0))
    assert (answer.text, answer.nearest) == ("not found", ("S1", "S2", "S3"))


def test_without_a_cross_encoder_enough_of_the_question_must_stand_there(bundle: ContextBundle) -> None:
    answer = extract_answer(bundle, reranker=None)
    assert answer.sentences[0].text == "The night porter keeps the great key."
    assert extract_answer(replace(bundle, query="what do elephants eat"), reranker=None).not_found


def test_no_evidence_is_not_found(bundle: ContextBundle) -> None:
    nothing = replace(bundle, evidence=())
    for reranker in (None, Scripted(key=9.0)):
        answer = extract_answer(nothing, reranker=reranker)
        assert (answer.text, answer.nearest) == ("not found", ())


def test_a_sentence_that_poses_the_question_answers_nothing() -> None:
    index = build_index(
        [
            page("faq", {"Questions": 'Who keeps the great key?\n\n`ask "Who keeps the great key?" --all`'}),
            page("keys", {"Great key": "The porter keeps the great key."}),
        ],
        [],
    )
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    found = retriever.retrieve(build_query("Who keeps the great key?"))
    assert len(found.evidence) == 2
    assert extract_answer(found, reranker=None).text.startswith("The porter keeps the great key. [S")
    assert len(extract_answer(found, reranker=None).sentences) == 1
    stated = retriever.retrieve(build_query("the porter keeps the great key"))
    assert not extract_answer(stated, reranker=None).not_found
