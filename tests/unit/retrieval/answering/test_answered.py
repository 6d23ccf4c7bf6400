"""An answer as one text."""

import pytest

from retrieval.answering.answered import Answered, AnsweredBy, Grounded


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Labels are [S2] and [S13].", "Labels are (S2) and (S13). [S1]"),
        ("So says [7: Knowledge Graph - Redis].", "So says (7: Knowledge Graph - Redis). [S1]"),
        ("See [1], [S0] and [x].", "See [1], [S0] and [x]. [S1]"),
    ],
)
def test_the_only_label_of_a_sentence_is_its_own_whatever_a_page_wrote(sentence: str, shown: str) -> None:
    answer = Answered(by=AnsweredBy.EXTRACT, sentences=(Grounded(text=sentence, S="S1"),))
    assert answer.text == shown
    assert answer.sentences[0].text == sentence


@pytest.mark.parametrize(
    ("by", "shown"),
    [
        (AnsweredBy.EXTRACT, "It is old. He sleeps. [S1] No. [S2]"),
        (AnsweredBy.MODEL, "It is old. [S1] He sleeps. [S1] No. [S2]"),
    ],
)
def test_a_quotation_has_its_label_once_and_a_models_sentences_each(by: AnsweredBy, shown: str) -> None:
    said = (
        Grounded(text="It is old.", S="S1"),
        Grounded(text="He sleeps.", S="S1"),
        Grounded(text="No.", S="S2"),
    )
    assert Answered(by=by, sentences=said).text == shown
