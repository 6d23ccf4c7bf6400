"""What a model's tags say."""

import pytest

from retrieval.iterative.decision import parse_reasoning


def test_a_judgement_and_its_sub_query_are_read() -> None:
    said = parse_reasoning(
        "Known: a.\n<judgement> Insufficient </judgement>\n<subquery>Where was\n Ada born?</subquery>"
    )
    assert said is not None
    assert (said.sufficient, said.sub_query) == (False, "Where was Ada born?")


def test_sufficient_needs_no_sub_query() -> None:
    said = parse_reasoning("<judgement>sufficient</judgement>")
    assert said is not None
    assert (said.sufficient, said.sub_query) == (True, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sufficient",
        "<judgement>sufficient",
        "<judgement>perhaps</judgement>",
        "<judgement>sufficient</judgement> <judgement>insufficient</judgement><subquery>a</subquery>",
        "<judgement>insufficient</judgement>",
        "<judgement>insufficient</judgement><subquery> </subquery>",
        "<judgement>insufficient</judgement>" + "<subquery>a" * 100_000,
    ],
)
def test_a_missing_or_broken_tag_is_none(text: str) -> None:
    assert parse_reasoning(text) is None


def test_a_sub_query_is_no_essay() -> None:
    said = parse_reasoning(f"<judgement>insufficient</judgement><subquery>{'a' * 5000}</subquery>")
    assert said is not None
    assert said.sub_query == "a" * 400
