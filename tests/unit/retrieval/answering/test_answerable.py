"""What tells a question that an index answers from one that it does not."""

import pytest

from retrieval.answering.answerable import Familiarity, asked_words, is_answerable, measure_familiarity
from tests.fakes.small_index import build_index, page


def test_words_that_stand_nowhere_are_counted_once_each_and_without_contractions() -> None:
    index = build_index([page("keys", {"Great key": "The night porter hangs it behind the clock."})], [])
    found = measure_familiarity(
        "Why isn't the porter's key on the Heliograph, the Heliograph, the clock?",
        index.chunks,
        index.encoder,
    )
    assert asked_words("Why isn't the porter's key on the clock?") == ("porter", "key", "clock")
    assert found.unknown == pytest.approx(1 / 4)


def test_a_question_in_the_words_of_a_passage_is_nearer_than_another() -> None:
    text = "The night porter hangs the great key behind the clock."
    index = build_index([page("keys", {"Great key": text})], [])
    near = measure_familiarity("night porter great key clock", index.chunks, index.encoder)
    far = measure_familiarity("elephants eat grass", index.chunks, index.encoder)
    assert 0.0 <= far.cosine < near.cosine <= 1.0
    assert (near.unknown, far.unknown) == (0.0, 1.0)


def test_the_id_of_a_document_that_is_there_is_no_unknown_word() -> None:
    keys = page("keys", {"Great key": "The night porter hangs it behind the clock."}, doc_id="ADR-0042")
    index = build_index([keys], [])
    asked = "Where does the porter hang the key according to {}?"

    there = measure_familiarity(asked.format("adr-0042"), index.chunks, index.encoder)
    nowhere = measure_familiarity(asked.format("ADR-0043"), index.chunks, index.encoder)

    assert nowhere.unknown - there.unknown == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("unknown", "logit", "answered"),
    [(0.0, 1.1, True), (0.0, 1.0, False), (0.2, 2.0, False), (0.2, 2.5, True), (1.0, 7.9, False)],
)
def test_unknown_words_cost_logits(unknown: float, logit: float, answered: bool) -> None:
    assert is_answerable(Familiarity(unknown=unknown, cosine=0.0), logit) is answered


@pytest.mark.parametrize(
    ("unknown", "cosine", "answered"),
    [(0.0, 0.46, True), (0.0, 0.45, False), (0.2, 0.6, False), (0.2, 0.7, True)],
)
def test_without_a_cross_encoder_they_cost_cosine(unknown: float, cosine: float, answered: bool) -> None:
    assert is_answerable(Familiarity(unknown=unknown, cosine=cosine), None) is answered
