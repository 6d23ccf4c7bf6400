"""Ids come from natural keys: never from a position, and never the same for two keys."""

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.ids import Occurrences, chunk_id, edge_id, make_id, normalise_text, page_id, section_id

DOC = page_id("https://site.test/guide")
words = st.text(alphabet="abc é\u0301", max_size=6)
texts = st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc"]), max_size=20)
keys = st.lists(texts, max_size=4).map(tuple)
paragraphs = st.lists(words, max_size=8)


def ids_in_order(paragraphs: list[str]) -> list[str]:
    """Ids of paragraphs under one heading, numbered as a parser numbers them."""
    occurrences = Occurrences()
    return [chunk_id(DOC, ("Guide",), p, occurrences.number(normalise_text(p))) for p in paragraphs]


@settings(deadline=None)
@given(paragraphs)
def test_ids_within_a_document_are_distinct(paragraphs: list[str]) -> None:
    assert len(set(ids_in_order(paragraphs))) == len(paragraphs)


@settings(deadline=None)
@given(paragraphs, st.data())
def test_reordering_paragraphs_changes_no_set_of_ids(paragraphs: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(paragraphs))
    assert set(ids_in_order(shuffled)) == set(ids_in_order(paragraphs))


@settings(deadline=None)
@given(paragraphs, st.integers(min_value=0, max_value=8), words)
def test_an_inserted_paragraph_adds_one_id_and_takes_none(
    paragraphs: list[str], place: int, new: str
) -> None:
    before = set(ids_in_order(paragraphs))
    after = set(ids_in_order([*paragraphs[:place], new, *paragraphs[place:]]))
    assert before < after
    assert len(after - before) == 1


@settings(deadline=None)
@given(words)
def test_what_a_reader_cannot_see_changes_no_id(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", text).replace(" ", " \t")
    assert chunk_id(DOC, (), f"\n {decomposed} ", 0) == chunk_id(DOC, (), text, 0)


@settings(deadline=None)
@given(texts)
def test_normalised_text_is_its_own_normal_form(text: str) -> None:
    assert normalise_text(normalise_text(text)) == normalise_text(text)


@settings(deadline=None)
@given(keys, keys)
def test_different_keys_have_different_ids(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    assert (make_id("node", *left) == make_id("node", *right)) == (left == right)


@settings(deadline=None)
@given(keys)
def test_an_id_is_its_kind_and_26_characters(key: tuple[str, ...]) -> None:
    assert re.fullmatch(r"node:[a-z2-7]{26}", make_id("node", *key))


@settings(deadline=None)
@given(keys, texts, st.integers(min_value=0))
def test_a_section_and_a_chunk_never_share_an_id(path: tuple[str, ...], text: str, number: int) -> None:
    assert section_id(DOC, path, number) != chunk_id(DOC, path, text, number)


@settings(deadline=None)
@given(texts, texts)
def test_an_edge_back_is_another_edge(src: str, dst: str) -> None:
    assert (edge_id("links_to", src, dst) == edge_id("links_to", dst, src)) == (src == dst)
