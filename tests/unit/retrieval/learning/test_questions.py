"""Question files: what they must hold, and how they are split."""

import re
from typing import Any

import pytest

from retrieval.learning.questions import KnownQuestion, check_enough, read_questions
from schemas.errors import ConfigError


def records(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"q{number}", "question": f"what is {number}?", "gold": ["a.md"]} for number in range(count)
    ]


def test_questions_are_read_in_order_and_ids_may_be_numbers() -> None:
    wanted = [{**one, "id": number} for number, one in enumerate(records(40))]
    found = read_questions(wanted, subject="q.jsonl")
    assert [one.id for one in found] == [str(number) for number in range(40)]
    assert found[0] == KnownQuestion(id="0", text="what is 0?", gold=("a.md",))


def test_one_document_may_stand_without_a_list() -> None:
    wanted = [{**one, "gold": "a.md"} for one in records(40)]
    assert read_questions(wanted, subject="q.jsonl")[0].gold == ("a.md",)


def test_a_question_stays_in_its_half_and_fold_whatever_else_the_file_holds() -> None:
    few, many = (read_questions(records(count), subject="q") for count in (40, 80))
    assert [(one.is_held_out, one.fold) for one in many[:40]] == [(one.is_held_out, one.fold) for one in few]
    assert 10 < sum(one.is_held_out for one in few) < 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": []}, "gold must list"),
        ({"gold": [3]}, "gold must list"),
        ({"question": " "}, "question is missing"),
        ({"id": None}, "id is missing"),
        ({"question": "x" * 10_001}, "is not a text of at most"),
        ({"question": "\ud800"}, "is not a text of at most"),
        ({"id": "\ud800"}, "is not a text of at most"),
        ({"gold": ["\udfff"]}, "is not a text of at most"),
    ],
)
def test_a_record_that_lacks_something_is_named(change: dict[str, Any], message: str) -> None:
    wanted: list[Any] = records(40)
    wanted[2] = {**wanted[2], **change}
    with pytest.raises(ConfigError, match=message) as caught:
        read_questions(wanted, subject="q.jsonl")
    assert caught.value.subject == "q.jsonl, question 3"


def test_a_record_that_is_no_object_is_named() -> None:
    with pytest.raises(ConfigError, match="not an object"):
        read_questions(["what?"], subject="q.jsonl")


def test_an_id_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="more than once: q3"):
        read_questions([*records(40), records(4)[3]], subject="q.jsonl")


def test_a_few_questions_are_enough_for_what_tunes_nothing() -> None:
    assert len(read_questions(records(2), subject="q.jsonl")) == 2


@pytest.mark.parametrize(
    ("ids", "has", "missing"),
    [
        (range(1), "has 1 question, too few", 9),
        (range(2), "has 2 questions, too few", 8),
        (range(9), "has 9 questions, too few", 1),
    ],
)
def test_too_few_to_tune_by_are_refused_with_how_many_it_takes(ids: range, has: str, missing: int) -> None:
    few = read_questions(records(len(ids)), subject="q.jsonl")
    with pytest.raises(ConfigError, match=has) as caught:
        check_enough(few, subject="q.jsonl")
    assert "it takes 10, 5 of them to tune and 5 to check" in caught.value.message
    assert int(re.search(r"at least (\d+) more", caught.value.message)[1]) >= missing  # type: ignore[index]


def test_enough_questions_of_which_one_half_lacks_some_are_refused_with_how_many_that_half_lacks() -> None:
    tuned = [one for one in read_questions(records(80), subject="q") if not one.is_held_out][:12]
    held = [one for one in read_questions(records(80), subject="q") if one.is_held_out][:5]
    with pytest.raises(ConfigError, match=r"\(here 12 and 2\); write at least 3 more"):
        check_enough([*tuned, *held[:2]], subject="q.jsonl")
    check_enough([*tuned, *held], subject="q.jsonl")
