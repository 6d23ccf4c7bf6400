"""Texts that hold any of many names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.link.spotting import sieve_of

letters = st.text(alphabet="aAb é\N{GRINNING FACE}", max_size=12)


@given(st.sets(letters.filter(bool), max_size=6), letters)
def test_a_text_is_let_through_where_a_name_is_in_it(names: set[str], text: str) -> None:
    assert sieve_of(names)(text) == any(name in text for name in names)


@pytest.mark.parametrize(
    ("text", "passes"), [("the Rope Store", True), ("Rope Stores", True), ("rope store", False)]
)
def test_names_are_sought_as_written_and_inside_words_too(text: str, passes: bool) -> None:
    assert sieve_of(["Rope Store", "Gate"])(text) == passes


def test_without_names_nothing_passes() -> None:
    assert not sieve_of([])("anything")
