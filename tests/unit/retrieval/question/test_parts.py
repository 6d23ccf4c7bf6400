"""Sentences of a question."""

import pytest

from retrieval.question.words import FIRST_MAX, LAST_MAX, question_parts


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
    assert question_parts(question) == (question, *parts)


def test_of_a_long_question_the_beginning_and_the_end_are_asked() -> None:
    lines = [f"Crane {number} lost power." for number in range(60)]
    question = " ".join([*lines, "Which fuse is to blame?"])
    _, *parts = question_parts(question)
    assert parts == [*lines[:FIRST_MAX], *lines[-LAST_MAX + 1 :], "Which fuse is to blame?"]


def test_no_question_takes_long() -> None:
    text = "Who?" + " x".join([" " * 50_000] * 3)
    assert question_parts(text)[0] == text
