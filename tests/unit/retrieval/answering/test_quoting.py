"""Which neighbouring sentences are quoted."""

import pytest

from retrieval.answering.extract import stretch


@pytest.mark.parametrize(
    ("lengths", "worth", "limit", "taken"),
    [
        ([], [], 100, range(0)),
        ([300], [0.0], 100, range(0, 1)),
        ([40, 40, 40], [0.0, 0.0, 0.0], 200, range(0, 3)),
        ([40, 40, 40], [0.0, 1.0, 0.0], 90, range(1, 3)),
        ([40, 40, 40], [0.5, 1.0, 0.0], 90, range(0, 2)),
        ([40, 40, 400], [0.0, 1.0, 0.9], 90, range(0, 2)),
        ([1, 1], [None, None], 100, range(0)),
        ([1, 40, 1, 40], [None, 1.0, None, 0.5], 90, range(0, 4)),
        ([40, 1, 40, 40], [0.9, None, 1.0, 0.5], 84, range(0, 3)),
    ],
)
def test_neighbours_of_the_best_are_taken_the_worthier_first_and_never_beyond_the_limit(
    lengths: list[int], worth: list[float | None], limit: int, taken: range
) -> None:
    assert stretch(lengths, worth, limit=limit) == taken
