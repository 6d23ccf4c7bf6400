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

    def holds_middle_of(self, other: "BBox") -> bool:
        """Whether the middle of the other lies in this one, edges included."""
        x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


@dataclass(frozen=True, slots=True)
class PageSize:
    """Width and height of a page's CropBox in PDF points, rotation 0."""

    width: float
    height: float


def turn(bbox: BBox, *, size: PageSize, rotation: int) -> BBox:
    """Turn a box on the unrotated page of *size* into one on the page as displayed.

    /Rotate is clockwise, in steps of 90 degrees (ISO 32000-1, 7.7.3.3).
    """
    x0, y0, x1, y1 = bbox.x0, bbox.y0, bbox.x1, bbox.y1
    match rotation % 360:
        case 90:
            return BBox(size.height - y1, x0, size.height - y0, x1)
        case 180:
            return BBox(size.width - x1, size.height - y1, size.width - x0, size.height - y0)
        case 270:
            return BBox(y0, size.width - x1, y1, size.width - x0)
    return bbox
