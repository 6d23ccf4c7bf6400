"""A search for the best weights on a grid: what one part loses another gains, so that the sum stays 1."""

from collections.abc import Callable

from retrieval.learning.captured import PARTS
from schemas.evidence import Scores

STEPS = 20
"""The grid is .05."""
ROUNDS_MAX = 20

Point = tuple[int, ...]
"""A weight for each part in steps of .05, 20 in all."""


def weights_at(point: Point) -> Scores:
    """Return the weights of a point of the grid."""
    return Scores(**{name: count / STEPS for name, count in zip(PARTS, point, strict=True)})


def point_of(weights: Scores) -> Point | None:
    """Return the point of the grid that *weights* are, None where they lie beside it."""
    point = tuple(round(getattr(weights, name) * STEPS) for name in PARTS)
    return point if sum(point) == STEPS and weights_at(point) == weights else None


def search(value_of: Callable[[Point], float], start: Point) -> Point:
    """Climb from *start* to a point that no single exchange between two parts betters.

    Coordinate search in a fixed order: each part in turn takes from each other as many steps as help most; of
    equals the fewest, so that what does not matter stays as it was.
    """
    best, value = start, value_of(start)
    for _ in range(ROUNDS_MAX):
        before = best
        for gains in range(len(PARTS)):
            for gives in range(len(PARTS)):
                if gains != gives:
                    best, value = _exchange(value_of, best, value, gains=gains, gives=gives)
        if best == before:
            break
    return best


def _exchange(
    value_of: Callable[[Point], float], best: Point, value: float, *, gains: int, gives: int
) -> tuple[Point, float]:
    start = best
    for steps in range(1, start[gives] + 1):
        point = tuple(
            count + (steps if part == gains else -steps if part == gives else 0)
            for part, count in enumerate(start)
        )
        found = value_of(point)
        if found > value + 1e-9:
            best, value = point, found
    return best, value
