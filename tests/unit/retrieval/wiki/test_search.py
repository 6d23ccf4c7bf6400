"""Pages by the words they share with a question."""

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.question.words import Rarity
from retrieval.wiki.page import PageIndex
from tests.fakes.wiki import hand_page

LEASES = hand_page("Leases", "A lease ends after a week.", slug="leases")
COAL = hand_page("Coal", "Whoever holds a lease may fetch coal.", slug="coal")
BOOKS = hand_page("Books", "They stand in the hall.", slug="books")
PAGES = (BOOKS, COAL, LEASES)


def test_a_title_counts_beside_the_text_and_pages_without_a_word_are_left_out() -> None:
    found = PageIndex(PAGES).search("what are leases", top_k=3)
    assert [hit.page for hit in found] == [LEASES, COAL]
    assert [hit.coverage for hit in found] == [1, 1]
    assert PageIndex(PAGES).search("submarines", top_k=3) == ()


def test_at_most_as_many_pages_as_asked_for_in_an_order_that_never_changes() -> None:
    twins = tuple(hand_page("Leases", "A lease.", slug=f"twin-{number}") for number in (2, 0, 1))
    assert [hit.page.slug for hit in PageIndex(twins).search("lease", top_k=2)] == ["twin-0", "twin-1"]


def test_a_rare_word_that_is_missing_weighs_more_than_a_common_one() -> None:
    rarity = PageIndex(PAGES).rarity
    assert rarity.of("nowhere") > rarity.of("book") > rarity.of("leas") > 0
    assert rarity.cover({"leas", "nowhere"}, {"leas"}) < 0.5 < rarity.cover({"leas", "book"}, {"book"})


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_coverage_lies_between_none_and_all(wanted: set[str], there: set[str], pages: int) -> None:
    covered = Rarity(pages, {"a": min(1, pages)}).cover(wanted, there)
    assert 0 <= covered <= 1
    assert (covered == 0) == (not wanted & there)
    assert (round(covered, 9) == 1) == bool(wanted and wanted <= there)
