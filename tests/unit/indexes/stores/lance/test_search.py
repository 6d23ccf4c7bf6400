"""Cutting ties by id."""

import pyarrow as pa
import pytest

from indexes.stores.lance.chunks import best


def ranked(scores: dict[str, float], asked: list[int] | None = None) -> object:
    """A store that gives ties in reverse id order, the worst case."""
    order = sorted(scores, key=lambda key: (scores[key], key), reverse=True)

    def fetch(limit: int) -> pa.Table:
        if asked is not None:
            asked.append(limit)
        cut = order[:limit]
        return pa.table(
            {
                "id": cut,
                "doc": ["d"] * len(cut),
                "score": pa.array([scores[key] for key in cut], pa.float32()),
            }
        )

    return fetch


def found(scores: dict[str, float], top_k: int) -> list[str]:
    return [hit.chunk_id for hit in best(ranked(scores), top_k)]  # type: ignore[arg-type]


def test_the_smallest_ids_of_a_tie_at_the_cut_are_taken() -> None:
    scores = {f"{n:04d}": 1.0 for n in range(500)} | {"best": 2.0, "worst": 0.5}
    assert found(scores, 4) == ["best", "0000", "0001", "0002"]


def test_scores_that_differ_only_by_rounding_tie() -> None:
    assert found({"a": 0.30000001, "b": 0.30000004, "c": 0.29999999}, 2) == ["a", "b"]


def test_it_asks_once_where_nothing_ties() -> None:
    asked: list[int] = []
    scores = {f"{n:04d}": 1.0 / (n + 1) for n in range(500)}
    assert len(best(ranked(scores, asked), 10)) == 10  # type: ignore[arg-type]
    assert len(asked) == 1


@pytest.mark.parametrize(("top_k", "count"), [(0, 0), (-1, 0), (1, 1), (3, 3), (9, 3)])
def test_it_gives_what_there_is_up_to_top_k(top_k: int, count: int) -> None:
    assert len(found({"a": 1.0, "b": 0.5, "c": -0.5}, top_k)) == count


def test_nothing_found_is_no_hits() -> None:
    assert found({}, 5) == []
