"""Many pages that change to one text at once, whatever it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.diff.quarantine import Rewrite, find_same_text, resemblance, same_text_limit, sketch


def words(subject: str, number: int = 40) -> list[str]:
    return [f"{subject}{n}" for n in range(number)]


def rewrite(name: str, now: list[str], before: list[str] | None = None) -> Rewrite:
    """A page that had a text of its own, unless told otherwise."""
    return Rewrite(uri=name, before=sketch(words(name) if before is None else before), now=sketch(now))


def test_pages_that_changed_to_one_text_are_found_and_name_each_other() -> None:
    found = find_same_text(
        [*(rewrite(name, words("news")) for name in "abc"), rewrite("d", words("other"))], at_least=3
    )
    assert found == {"a": "b", "b": "a", "c": "a"}


def test_fewer_than_the_limit_are_let_through() -> None:
    assert find_same_text([rewrite(name, words("news")) for name in "abc"], at_least=4) == {}


def test_an_address_or_a_date_in_the_text_makes_no_other_text_of_it() -> None:
    found = find_same_text(
        [rewrite(name, [*words("news"), name, f"{name}.html"]) for name in "abcde"], at_least=5
    )
    assert len(found) == 5


def test_pages_that_were_alike_before_may_change_alike() -> None:
    """The pages of a catalogue that say the same of every size."""
    found = find_same_text([rewrite(n, words("new"), words("old")) for n in "abcde"], at_least=2)
    assert found == {}


def test_a_text_that_many_pages_have_is_found_among_a_thousand_rewritten_ones() -> None:
    mixed = [rewrite(f"{n:04}", words(f"own{n}-") if n % 10 else words("news")) for n in range(1000)]
    assert len(find_same_text(mixed, at_least=100)) == 100


def test_pages_that_lost_all_their_text_have_the_same_one() -> None:
    assert len(find_same_text([rewrite(name, []) for name in "abc"], at_least=3)) == 3


@pytest.mark.parametrize(
    ("live", "limit"), [(0, 2), (1, 2), (2, 2), (4, 2), (5, 3), (9, 5), (10, 5), (100_000, 5)]
)
def test_in_a_small_source_half_of_it_is_many(live: int, limit: int) -> None:
    assert same_text_limit(5, live=live) == limit


@given(st.sets(st.text(min_size=1), max_size=200), st.sets(st.text(min_size=1), max_size=200))
def test_a_resemblance_is_a_share_and_the_same_both_ways(one: set[str], other: set[str]) -> None:
    a, b = sketch(one), sketch(other)
    assert 0 <= resemblance(a, b) == resemblance(b, a) <= 1
    assert resemblance(a, a) == 1


def test_an_estimate_is_near_the_true_share() -> None:
    one, other = words("w", 1000), words("w", 900)
    assert resemblance(sketch(one), sketch(other)) == pytest.approx(0.9, abs=0.1)
