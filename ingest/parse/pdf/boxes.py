"""Boxes as pymupdf gives them, as ours."""

from typing import Any

from schemas.geometry import BBox


def to_box(rect: Any) -> BBox:
    """Turn four numbers into a box of hundredths of a point, corners in order."""
    x0, y0, x1, y1 = (round(float(value), 2) for value in rect)
    return BBox(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
