"""Boxes that cannot be built wrong."""

import pytest

from schemas.nodes import BBox


@pytest.mark.parametrize(
    "corners", [(3, 0, 1, 5), (0, 5, 1, 3), (float("nan"), 0, 1, 1), (0, 0, 1, float("nan"))]
)
def test_a_box_whose_corners_are_swapped_or_no_numbers_cannot_be_built(
    corners: tuple[float, float, float, float],
) -> None:
    with pytest.raises(ValueError, match="not a box"):
        BBox(*corners)


def test_a_box_may_be_flat() -> None:
    assert BBox(1, 1, 1, 1).union(BBox(1, 1, 1, 1)) == BBox(1, 1, 1, 1)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (BBox(0, 0, 1, 1), BBox(5, 5, 6, 6), BBox(0, 0, 6, 6)),
        (BBox(0, 0, 9, 9), BBox(2, 2, 3, 3), BBox(0, 0, 9, 9)),
        (BBox(0, 4, 2, 6), BBox(-1, 5, 1, 9), BBox(-1, 4, 2, 9)),
    ],
)
def test_a_union_is_the_smallest_box_around_both_in_either_order(left: BBox, right: BBox, both: BBox) -> None:
    assert left.union(right) == right.union(left) == both
