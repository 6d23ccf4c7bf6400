"""The search on the grid of weights."""

from retrieval.learning.tuning import STEPS, Point, point_of, search, weights_at
from retrieval.ranking.score import WEIGHTS
from schemas.evidence import Scores

START = (10, 5, 3, 1, 1)


def test_the_weights_of_the_design_are_a_point_of_the_grid() -> None:
    assert point_of(WEIGHTS) == START
    assert weights_at(START) == WEIGHTS


def test_weights_beside_the_grid_have_no_point() -> None:
    assert point_of(Scores(text=0.47, graph=0.23, anchor=0.15, authority=0.1, freshness=0.05)) is None


def test_the_search_finds_the_top_of_a_smooth_hill_and_stays_on_the_simplex() -> None:
    goal = (4, 8, 0, 2, 6)
    seen: list[Point] = []

    def value_of(point: Point) -> float:
        seen.append(point)
        return -sum((a - b) ** 2 for a, b in zip(point, goal, strict=True))

    assert search(value_of, START) == goal
    assert {sum(point) for point in seen} == {STEPS}
    assert min(min(point) for point in seen) >= 0


def test_where_nothing_matters_the_weights_stay() -> None:
    assert search(lambda _: 0.5, START) == START


def test_the_search_is_the_same_every_time() -> None:
    def value_of(point: Point) -> float:
        return float((point[0] * 7 + point[1] * 3 + point[4] * 5) % 11)

    assert search(value_of, START) == search(value_of, START)
