"""Hard negatives: from rank 4 on, of another section, not as good, and nothing that says the same."""

from collections.abc import Sequence

import pytest

from retrieval.learning.negatives import Triplet, Wanted, followed_questions, mine_negatives
from retrieval.learning.usage import Usage
from retrieval.ranking.score import Scored
from retrieval.retriever import RetrievalResult
from schemas.evidence import Origin, Query, Scores
from schemas.nodes import Chunk
from schemas.text import encoded_text
from tests.fakes.plain_evidence import plain_bundle
from tests.fakes.small_index import SmallIndex, build_index, page

PAGES = 8


class Logits:
    """Keeps the port Reranker by the last word of a text: `good` 5, `near` 4.6, `perhaps` -1, else -8."""

    def score_pairs(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(
            {"good": 5.0, "near": 4.6, "perhaps": -1.0}.get(text.split()[-1], -8.0) for text in texts
        )


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    pages = [
        page(
            f"p{number}", {f"Page {number}": f"Passage {number} of its own.", "More": f"Rest {number} here."}
        )
        for number in range(PAGES)
    ]
    documents = (
        *pages,
        page("answer", {"Answer": "A lease is valid for an hour, good", "Copy": "Page 1 of something near"}),
        page("copy", {"Answer": "A lease is valid for an hour, good"}),
        page("other", {"Other": "An hour goes by until it is over, perhaps"}),
        page("weak", {"Weak": "So long it is, perhaps"}),
    )
    return build_index(documents, ())


def chunk(index: SmallIndex, text: str) -> Chunk:
    return next(row for row in index.rows if row.text.startswith(text))


def walk_over(index: SmallIndex, *texts: str) -> RetrievalResult:
    ranked = tuple(
        Scored(chunk=chunk(index, text), scores=Scores(), source=Origin.VECTOR, role="rest", place=place)
        for place, text in enumerate(texts)
    )
    return RetrievalResult(query=Query(text="q"), bundle=plain_bundle({}), candidates=ranked, copies={})


def mine(index: SmallIndex, wanted: Wanted, *texts: str) -> list[Triplet]:
    found = walk_over(index, *texts)
    return list(mine_negatives([wanted], lambda _: found, chunks=index.chunks, reranker=Logits()))


FIRST = ("A lease", "Passage 0", "Passage 1")


def test_passages_from_rank_four_on_become_negatives_of_what_was_followed(index: SmallIndex) -> None:
    answer = chunk(index, "A lease")
    rows = mine(index, Wanted(text="how long", chunks=(answer.id,)), *FIRST, "Passage 2", "Rest 3")
    positive = encoded_text(answer.heading_path, answer.text)
    assert [(row.anchor, row.positive) for row in rows] == [("how long", positive)] * 2
    assert [row.negative.splitlines()[-1] for row in rows] == ["Passage 2 of its own.", "Rest 3 here."]


def test_what_the_cross_encoder_finds_nearly_as_good_is_no_negative(index: SmallIndex) -> None:
    answer = chunk(index, "A lease")
    assert mine(index, Wanted(text="q", chunks=(answer.id,)), *FIRST, "Page 1 of something") == []


def test_what_the_cross_encoder_does_not_reject_may_answer_and_is_no_negative(index: SmallIndex) -> None:
    answer = chunk(index, "A lease")
    rows = mine(index, Wanted(text="q", chunks=(answer.id,)), *FIRST, "An hour goes by", "Rest 3")
    assert [row.negative.splitlines()[-1] for row in rows] == ["Rest 3 here."]


def test_what_answers_the_same_question_in_another_spelling_is_no_negative(index: SmallIndex) -> None:
    answers = [chunk(index, "A lease"), chunk(index, "Rest 3")]
    asked = [
        Wanted(text="How long?", chunks=(answers[0].id,)),
        Wanted(text="how long", chunks=(answers[1].id,)),
        Wanted(text="HOW LONG?", documents=("p4.md",)),
    ]
    found = walk_over(index, *FIRST, "Rest 3", "Rest 4", "Rest 5")
    rows = list(mine_negatives(asked, lambda _: found, chunks=index.chunks, reranker=Logits()))
    assert {row.anchor for row in rows} == {"How long?"}
    assert {row.negative.splitlines()[-1] for row in rows} == {"Rest 5 here."}


def test_passages_of_a_document_known_to_answer_are_no_negatives(index: SmallIndex) -> None:
    wanted = Wanted(text="q", documents=("p3.md",))
    rows = mine(index, wanted, "Passage 3", *FIRST, "Rest 3", "Rest 4")
    assert rows == []


def test_the_best_passage_of_a_document_known_to_answer_is_the_positive(index: SmallIndex) -> None:
    rows = mine(index, Wanted(text="q", documents=("answer.md",)), *FIRST, "Rest 3", "Rest 4")
    assert {row.positive.splitlines()[-1] for row in rows} == {"A lease is valid for an hour, good"}
    assert len(rows) == 2


def test_near_duplicates_of_an_answer_are_no_negatives(index: SmallIndex) -> None:
    copies = [row for row in index.rows if row.text.startswith("A lease")]
    ranked = (*[chunk(index, text) for text in ("Passage 0", "Passage 1", "Passage 2")], *copies)
    found = RetrievalResult(
        query=Query(text="q"),
        bundle=plain_bundle({}),
        candidates=tuple(
            Scored(chunk=one, scores=Scores(), source=Origin.VECTOR, role="rest") for one in ranked
        ),
        copies={},
    )
    wanted = Wanted(text="q", chunks=(copies[0].id,))
    assert list(mine_negatives([wanted], lambda _: found, chunks=index.chunks, reranker=Logits())) == []


def test_an_answer_that_is_gone_gives_no_rows(index: SmallIndex) -> None:
    assert mine(index, Wanted(text="q", chunks=("chunk:gone",)), *FIRST, "Rest 3") == []


def test_clicks_of_one_question_are_its_answers_together() -> None:
    clicks = [{"query": "a", "chunk_id": "chunk:2"}, {"query": "b", "chunk_id": "chunk:3"}]
    usage = Usage(queries=(), clicks=(*clicks, {"query": "a", "chunk_id": "chunk:1"}), unreadable=0)
    assert followed_questions(usage) == (
        Wanted(text="a", chunks=("chunk:1", "chunk:2")),
        Wanted(text="b", chunks=("chunk:3",)),
    )
