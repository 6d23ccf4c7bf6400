"""An answer as one text."""

import pytest

from retrieval.answering.answered import Answered, AnsweredBy, Grounded


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Labels are [S2] and [S13].", "Labels are (S2) and (S13). [S1]"),
        ("So says [7: Knowledge Graph - Redis].", "So says (7: Knowledge Graph - Redis). [S1]"),
        ("See [0], [S0] and [x].", "See (0), [S0] and [x]. [S1]"),
        ("It holds. [83]", "It holds. (83) [S1]"),
        ("It holds.[83]", "It holds.(83) [S1]"),
        ("[83] So it was.", "(83) So it was. [S1]"),
        ("It is argv[1] of f()[2] and x = [3].", "It is argv[1] of f()[2] and x = [3]. [S1]"),
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


def test_blocks_of_a_quotation_are_shown_apart_and_a_label_is_no_code() -> None:
    said = (
        Grounded(text="For example:", S="S1"),
        Grounded(text="add(", S="S1", joint="\n\n"),
        Grounded(text="OUTPUT out.c)", S="S1", joint="\n  "),
        Grounded(text="It runs.", S="S2", joint="\n\n"),
    )
    shown = "For example:\n\nadd(\n  OUTPUT out.c)\n[S1]\n\nIt runs. [S2]"
    assert Answered(by=AnsweredBy.EXTRACT, sentences=said).text == shown
