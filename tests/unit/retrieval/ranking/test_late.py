"""Late interaction: similarity token by token, and its share of the text score."""

import numpy as np
import pytest

from indexes.ports import TokenVectors
from retrieval.ranking.rerank import SHARE, max_similarities, weigh_similarities
from retrieval.ranking.score import Scored
from schemas.evidence import Origin, Scores
from tests.fakes.graph_samples import make_chunk

AXES = np.eye(4, dtype=np.float32)


def tokens(*axes: int) -> TokenVectors:
    return AXES[list(axes)].astype(np.float16)


def scored(name: str, text: float) -> Scored:
    chunk = make_chunk(name, id=name)
    return Scored(chunk=chunk, scores=Scores(text=text, authority=0.2), source=Origin.VECTOR, role="rest")


def texts(found: tuple[Scored, ...]) -> dict[str, float]:
    return {one.chunk.id: one.scores.text for one in found}


def test_each_token_of_the_question_counts_by_the_nearest_of_the_passage() -> None:
    asked = AXES[[0, 1]]
    stored = {"both": tokens(1, 2, 0), "one": tokens(0, 0), "none": tokens(2, 3)}

    assert max_similarities(asked, stored) == {"both": 1.0, "one": 0.5, "none": 0.0}


def test_tokens_of_the_passage_that_nothing_asks_for_take_nothing() -> None:
    short, long = tokens(0), tokens(0, 1, 2, 3)

    found = max_similarities(AXES[[0]], {"short": short, "long": long})

    assert found["short"] == found["long"]


def test_the_most_similar_takes_half_of_its_text_score_from_it_and_the_lower_half_nothing() -> None:
    candidates = [scored("a", 0.8), scored("b", 0.6), scored("c", 0.4)]

    found = weigh_similarities(candidates, {"a": 0.1, "b": 0.3, "c": 0.9})

    assert texts(found) == pytest.approx({"c": 0.2 + SHARE, "a": 0.4, "b": 0.3})
    assert [one.chunk.id for one in found] == ["c", "a", "b"]


def test_a_candidate_without_token_vectors_counts_as_one_of_the_lower_half() -> None:
    candidates = [scored("a", 0.8), scored("b", 0.8), scored("c", 0.8)]

    found = weigh_similarities(candidates, {"a": 0.9, "b": 0.5})

    assert texts(found) == pytest.approx({"a": 0.4 + SHARE, "b": 0.4, "c": 0.4})


@pytest.mark.parametrize("similarity", [{}, {"a": 0.4, "b": 0.4}], ids=["none", "all alike"])
def test_where_nothing_is_told_apart_nothing_changes(similarity: dict[str, float]) -> None:
    candidates = (scored("a", 0.8), scored("b", 0.6))

    assert weigh_similarities(candidates, similarity) == candidates
