"""Words made comparable."""

import pytest

from retrieval.question.words import full_stems


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lease", "leases"),
        ("policy", "policies"),
        ("page", "pages"),
        ("stop", "stopped"),
        ("running", "runs"),
        ("configure", "configured"),
        ("call", "calls"),
        ("query", "queries"),
        ("box", "boxes"),
    ],
)
def test_forms_of_a_word_are_one(one: str, other: str) -> None:
    assert full_stems(one) == full_stems(other)


@pytest.mark.parametrize(
    ("one", "other"), [("lease", "least"), ("new", "newt"), ("process", "proceed"), ("on", "one")]
)
def test_other_words_stay_apart(one: str, other: str) -> None:
    assert full_stems(one) != full_stems(other)
