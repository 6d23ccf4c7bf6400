"""Sentences of a question."""

import pytest

from retrieval.question.parts import parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How do I skip slow tests?", ()),
        ("Help! How do I skip slow tests?", ("How do I skip slow tests?",)),
        ("The build fails. How do I skip tests?", ("The build fails.", "How do I skip tests?")),
        ("Usertags in bugs - what are they for, compared with tags?",
         ("Usertags in bugs", "what are they for, compared with tags?")),
        ("Which of a.b.c and git-log?", ()),
    ],
)  # fmt: skip
def test_each_sentence_that_says_something_is_asked_besides_the_whole(
    question: str, parts: tuple[str, ...]
) -> None:
    assert parts_of(question) == (question, *parts)
