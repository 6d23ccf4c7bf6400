"""Fusion and balance of the ranked lists."""

from typing import cast

import numpy as np
import pytest

from indexes.ports import ChunkReader
from retrieval.question.query import build_query
from retrieval.question.route import Route, names_things
from retrieval.question.words import searched_words
from retrieval.search.seeds import (
    PDF_BIAS,
    PER_PDF,
    WEIGHTS,
    EmbeddedQuery,
    SeedList,
    balance_pool,
    found_by_search,
    fuse_lists,
)
from schemas.evidence import Hit, SearchField


def hits(*ids: str, doc: str = "page:a") -> tuple[Hit, ...]:
    return tuple(Hit(chunk_id=name, doc=doc, score=1.0 - place / 100) for place, name in enumerate(ids))


def lists(**found: tuple[Hit, ...]) -> dict[SeedList, tuple[Hit, ...]]:
    return {name: found.get(name.value, ()) for name in SeedList}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("how do I keep a job alive when the terminal hangs up", False),
        ("My notebook is off most of the time. What runs before it sleeps?", False),
        ("what does BASH_ENV do", True),
        ("Who wrote the Backup Guide?", True),
        ("does JSON keep the order", True),
    ],
)
def test_stop_words_count_where_a_question_names_nothing(text: str, named: bool) -> None:
    store = Asked()
    asked = EmbeddedQuery(query=build_query(text), vector=np.zeros(3, np.float32))
    for field in (SearchField.TEXT, SearchField.HEADING):
        asked.bm25(cast(ChunkReader, store), field)
    assert names_things(text) == named
    assert store.words == [searched_words(text) if named else text, searched_words(text)]


class Asked:
    """A store that only notes what it is asked for."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def search_text(self, _field: SearchField, words: str, **_: object) -> tuple[Hit, ...]:
        self.words.append(words)
        return ()


def test_every_route_weighs_every_list() -> None:
    assert set(WEIGHTS) == set(Route)
    assert all(set(weights) == set(SeedList) for weights in WEIGHTS.values())


def test_fusion_adds_weight_over_sixty_plus_rank() -> None:
    fused = fuse_lists(lists(text_bm25=hits("b", "a"), heading_dense=hits("a")), Route.PLAIN)
    assert {hit.chunk_id: hit.score for hit in fused} == {
        "a": pytest.approx(1 / 62 + 0.5 / 61),
        "b": pytest.approx(1 / 61),
    }
    assert [hit.chunk_id for hit in fused] == ["a", "b"]


def test_ties_of_fusion_are_ordered_by_id() -> None:
    fused = fuse_lists(lists(text_bm25=hits("z"), text_dense=hits("m")), Route.PLAIN)
    assert [hit.chunk_id for hit in fused] == ["m", "z"]


def test_a_list_of_weight_zero_adds_nothing() -> None:
    assert fuse_lists(lists(heading_dense=hits("a"), anchor_dense=hits("b")), Route.ID) == ()


def test_an_exact_code_outweighs_all_other_lists_on_the_id_route() -> None:
    found = lists(
        text_bm25=hits("words"), text_dense=hits("words"), heading_bm25=hits("words"), codes=hits("code")
    )
    assert fuse_lists(found, Route.ID)[0].chunk_id == "code"
    assert fuse_lists(found, Route.PLAIN)[0].chunk_id == "words"


def test_pdf_chunks_gain_a_quarter_on_the_pdf_route_only() -> None:
    found = lists(text_bm25=hits("p", doc="pdfdoc:x"))
    plain, pdf = fuse_lists(found, Route.PLAIN)[0], fuse_lists(found, Route.PDF)[0]
    assert pdf.score == pytest.approx(plain.score * PDF_BIAS)


def test_the_pool_holds_eight_of_a_document_before_it_is_refilled() -> None:
    ranked = (*hits(*(f"a{n:02}" for n in range(20)), doc="page:a"), *hits("b", doc="page:b"))
    pool = [hit.chunk_id for hit in balance_pool(ranked, pool=10)]
    assert pool == [f"a{n:02}" for n in range(8)] + ["b", "a08"]


def test_of_a_pdf_more_may_compete_since_its_pages_do() -> None:
    ranked = (*hits(*(f"a{n:02}" for n in range(60)), doc="pdfdoc:a"), *hits("b", doc="page:b"))
    pool = [hit.chunk_id for hit in balance_pool(ranked, pool=42)]
    assert pool == [*(f"a{n:02}" for n in range(PER_PDF)), "b", f"a{PER_PDF:02}"]


def test_a_dense_list_shows_its_ten_nearest_and_a_word_list_all() -> None:
    names = [f"c{n:02}" for n in range(30)]
    assert found_by_search(lists(text_dense=hits(*names))) == frozenset(names[:10])
    assert found_by_search(lists(text_bm25=hits(*names))) == frozenset(names)
