"""What other pages call a passage: to its fragment, else to the first chunk; sorted, at most 8."""

import pytest

from ingest.link.links import MAX_ANCHOR_TEXTS, give_anchor_texts
from schemas.nodes import Chunk
from tests.fakes.graph_samples import make_chunk

CHUNKS = (
    make_chunk("intro", ordinal=0),
    make_chunk("install", ordinal=1, fragment="install"),
    make_chunk("install again", ordinal=2, fragment="install"),
    make_chunk("use", ordinal=3, fragment="use"),
)


def texts(*links: tuple[str | None, str], chunks: tuple[Chunk, ...] = CHUNKS) -> dict[str, tuple[str, ...]]:
    """Anchor texts by the text of the chunk that got any."""
    given = give_anchor_texts(chunks, links)
    return {chunk.text: chunk.anchor_texts for chunk in given if chunk.anchor_texts}


@pytest.mark.parametrize(
    ("fragment", "reached"),
    [
        (None, ["intro"]),
        ("use", ["use"]),
        ("install", ["install", "install again"]),
        ("no-such-place", ["intro"]),
        ("USE", ["intro"]),
    ],
)
def test_a_link_reaches_the_chunks_of_its_fragment_or_the_first(
    fragment: str | None, reached: list[str]
) -> None:
    assert texts((fragment, "guide")) == dict.fromkeys(reached, ("guide",))


def test_texts_are_distinct_and_sorted() -> None:
    assert texts((None, "b"), (None, "a"), (None, "b")) == {"intro": ("a", "b")}


def test_of_many_texts_the_first_eight_in_order_stay() -> None:
    links = [(None, f"name {number:02}") for number in range(20, 0, -1)]
    assert texts(*links) == {"intro": tuple(f"name {number:02}" for number in range(1, 9))}
    assert MAX_ANCHOR_TEXTS == 8


def test_a_link_without_text_names_nothing() -> None:
    assert texts((None, ""), ("use", "")) == {}


def test_a_first_chunk_with_a_fragment_gets_both_kinds() -> None:
    chunks = (make_chunk("top", fragment="top"), make_chunk("next", ordinal=1, fragment="next"))
    assert texts((None, "page"), ("top", "top"), chunks=chunks) == {"top": ("page", "top")}


def test_the_first_chunk_is_first_in_reading_order_not_in_the_list() -> None:
    assert texts((None, "guide"), chunks=CHUNKS[::-1]) == {"intro": ("guide",)}


def test_texts_of_before_are_replaced_not_added_to() -> None:
    old = (make_chunk("intro", anchor_texts=("old name",)),)
    assert texts((None, "new name"), chunks=old) == {"intro": ("new name",)}
    assert texts(chunks=old) == {}


def test_a_document_without_chunks_takes_no_names() -> None:
    assert give_anchor_texts((), [(None, "guide")]) == ()


def test_a_link_to_an_id_inside_a_passage_names_that_passage_alone() -> None:
    inner = make_chunk("inner", ordinal=4, fragment="use", fragments=("option-x", "install"))
    given = texts(("option-x", "the option"), ("install", "setup"), chunks=(*CHUNKS, inner))
    assert given == {"inner": ("the option",), "install": ("setup",), "install again": ("setup",)}
