"""Words that search by words looks for."""

import pytest

from retrieval.question.words import searched_words


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("How do I rotate the logs?", "rotate logs?"),
        ("What does the IT policy say?", "IT policy say?"),
        ("How do I use the CAN bus?", "use CAN bus?"),
        ("I can use it", "use"),
        ("HOW DO I ROTATE IT", "ROTATE"),
        ("what is it", "what is it"),
    ],
)
def test_stop_words_are_left_out_and_names_in_capitals_are_not(text: str, searched: str) -> None:
    assert searched_words(text) == searched
