"""What holds for every text: nothing is lost, nothing is too long, ids stay."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.parse.chunking import split_spans
from tests.fakes.pages import count_words, parse_page

texts = st.lists(
    st.text(alphabet="ab \n.!é中\u3000", max_size=80) | st.just("\n\n") | st.just("word " * 30), max_size=30
).map("".join)
words = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]), min_size=5, max_size=60
)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(texts, st.integers(1, 60))
def test_spans_hold_all_that_is_not_white_space_in_order(text: str, limit: int) -> None:
    spans = split_spans(text, max_tokens=limit, count_tokens=count_words)
    assert "".join(squeezed(text[slice(*span)]) for span in spans) == squeezed(text)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@given(texts, st.integers(1, 60))
def test_spans_are_trimmed_not_empty_and_within_the_limit(text: str, limit: int) -> None:
    for start, end in split_spans(text, max_tokens=limit, count_tokens=len):
        assert text[start:end] == text[start:end].strip() != ""
        assert end - start <= limit


@given(texts, st.integers(5, 60))
def test_cutting_a_passage_again_leaves_it_whole(text: str, limit: int) -> None:
    for start, end in split_spans(text, max_tokens=limit, count_tokens=count_words):
        assert split_spans(text[start:end], max_tokens=limit, count_tokens=count_words) == ((0, end - start),)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(words.map(" ".join), min_size=1, max_size=8, unique=True), st.integers(0, 8), words.map(" ".join)
)
def test_inserting_a_section_changes_no_other_id(paragraphs: list[str], place: int, new: str) -> None:
    sections = [f"<h2>Part {n}</h2><p>{text}</p>" for n, text in enumerate(paragraphs)]
    edited = [*sections[:place], f"<h2>New part</h2><p>{new}</p>", *sections[place:]]
    before, after = (
        parse_page(f"<main><h1>Book</h1>{''.join(parts)}</main>") for parts in (sections, edited)
    )
    assert {chunk.id for chunk in before.chunks} < {chunk.id for chunk in after.chunks}
    assert {node.id for node in before.nodes} < {node.id for node in after.nodes}
