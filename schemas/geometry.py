"""Boxes on PDF pages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BBox:
    """A box in PDF points; origin top-left of the CropBox, page rotation 0."""

    x0: float
    y0: float
    x1: float
    y1: float

    def __post_init__(self) -> None:
        if not (self.x0 <= self.x1 and self.y0 <= self.y1):
            raise ValueError(f"not a box: {self}")

    def union(self, other: "BBox") -> "BBox":
        """Return the smallest box around both."""
        return BBox(
            min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1)
        )


@dataclass(frozen=True, slots=True)
class PageSize:
    """Width and height of a page's CropBox in PDF points, rotation 0."""

    width: float
    height: float
