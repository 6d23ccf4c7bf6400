"""Caps, the order they leave, and what `top_k` may change."""

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.score import Scored
from retrieval.ranking.selection import select_evidence
from schemas.evidence import Origin, Scores
from schemas.nodes import Chunk, DocumentKind


def scored(name: str, text: float, *, doc: str = "page:a", section: str | None = None) -> Scored:
    chunk = Chunk(
        id=name,
        kind=DocumentKind.HTML,
        source="s",
        doc=doc,
        text=f"text of {name}",
        content_hash="h",
        ordinal=0,
        offsets=(0, 1),
        token_count=1,
        section_id=section or f"section of {name}",
    )
    return Scored(chunk=chunk, scores=Scores(text=text), source=Origin.VECTOR, role="rest")


def ids(candidates: list[Scored], top_k: int) -> list[str]:
    return [one.chunk.id for one in select_evidence(candidates, top_k=top_k).chosen]


def test_equal_scores_are_ordered_by_id() -> None:
    assert ids([scored("b", 0.5), scored("a", 0.5), scored("c", 0.9)], 3) == ["c", "a", "b"]


def test_scores_equal_to_six_places_count_as_equal() -> None:
    assert ids([scored("b", 0.5000000001), scored("a", 0.5)], 2) == ["a", "b"]


def test_what_a_section_says_beyond_its_cap_counts_less_and_less() -> None:
    of_one_section = [scored(f"a{n}", 0.9, section="x") for n in range(4)]
    elsewhere = [scored("c", 0.88, doc="page:c"), scored("d", 0.85, doc="page:d")]
    assert ids(of_one_section + elsewhere, 6) == ["a0", "a1", "c", "a2", "d", "a3"]


def test_caps_give_way_where_the_scores_say_so_and_not_before() -> None:
    one_page = [scored(f"a{n}", 0.9) for n in range(5)]
    near, far = scored("b", 0.88, doc="page:b"), scored("c", 0.3, doc="page:c")
    assert ids([*one_page, near, far], 7) == ["a0", "a1", "a2", "b", "a3", "a4", "c"]


def test_every_second_place_from_the_fourth_on_is_for_what_is_nearest() -> None:
    ranked = [scored(f"a{n}", 0.9 - n / 100, doc=f"page:{n}") for n in range(9)]
    nearest = ["a8", "a0", "gone", "a7", "a4"]
    chosen = select_evidence(ranked, top_k=9, nearest=nearest).chosen
    assert [one.chunk.id for one in chosen] == ["a0", "a1", "a2", "a8", "a3", "a7", "a4", "a5", "a6"]


def test_places_of_a_reranker_hold_within_the_caps() -> None:
    ranked = [replace(scored(f"a{n}", n / 10, doc=f"page:{n}"), place=9 - n) for n in range(9)]
    assert ids(ranked, 9) == [f"a{n}" for n in reversed(range(9))]


def pages(*candidates: Scored) -> list[str]:
    return [one.chunk.id for one in select_evidence(candidates, top_k=5, by_page=True).chosen]


def test_by_page_each_page_stands_once_at_its_best_passage() -> None:
    several = [scored(f"a{n}", 0.8 - n / 100) for n in range(4)]
    assert pages(scored("b", 0.9, doc="page:b"), *several) == ["a0", "b"]


def test_by_page_many_weak_passages_pass_no_good_one() -> None:
    weak = [scored(f"a{n:02}", 0.3) for n in range(40)]
    assert pages(*weak, scored("b", 0.9, doc="page:b")) == ["b", "a00"]


def test_by_page_what_is_no_content_comes_last() -> None:
    index = replace(scored("a", 0.9), is_last=True)
    assert pages(index, scored("b", 0.1, doc="page:b")) == ["b", "a"]


def test_what_is_beyond_a_cap_is_counted() -> None:
    one_page = [scored(f"a{n}", 0.9 - n / 100) for n in range(5)]
    assert select_evidence(one_page, top_k=3).relaxed == 0
    assert select_evidence(one_page, top_k=5).relaxed == 2


def test_pdf_chunks_without_headings_share_no_section() -> None:
    plain = [scored(f"a{n}", 0.9 - n / 100, doc=f"pdfdoc:{n % 2}") for n in range(6)]
    bare = [replace(one, chunk=replace(one.chunk, section_id=None)) for one in plain]
    assert select_evidence(bare, top_k=6).relaxed == 0


def test_the_same_words_twice_count_once_at_the_better_place() -> None:
    first, second = scored("b", 0.9), scored("a", 0.5, doc="page:b")
    copy = replace(second, chunk=replace(second.chunk, text="text  of\nb"))
    assert ids([first, copy], 5) == ["b"]


def test_a_near_copy_of_a_better_passage_is_left_out() -> None:
    best, copy, other = scored("a", 0.9), scored("b", 0.8, doc="page:b"), scored("c", 0.7, doc="page:c")
    copies = {"a": {"b"}, "b": {"a"}}
    chosen = select_evidence([best, copy, other], copies, top_k=3).chosen
    assert [one.chunk.id for one in chosen] == ["a", "c"]


@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40),
    st.integers(1, 50),
    st.randoms(use_true_random=False),
)
def test_a_larger_top_k_only_appends_and_input_order_never_matters(
    drawn: list[tuple[int, int, int]], top_k: int, shuffler: Random
) -> None:
    candidates = [
        scored(f"c{place:02}", score / 10, doc=f"page:{doc}", section=f"{doc}/{section}")
        for place, (score, doc, section) in enumerate(drawn)
    ]
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    assert ids(shuffled, top_k) == ids(candidates, 50)[:top_k]
    by_page = [select_evidence(some, top_k=50, by_page=True).chosen for some in (shuffled, candidates)]
    assert by_page[0] == by_page[1]
    assert len({one.chunk.doc for one in by_page[0]}) == len(by_page[0])
