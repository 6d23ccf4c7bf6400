"""Figures of a page: raster images, and drawings of lines and areas that a caption names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.boxes import to_box
from ingest.parse.pdf.gate import MAX_CONTENT, content_length
from ingest.parse.pdf.opening import pdf_errors, raise_if_exhausted
from schemas.geometry import BBox

REACH = 48.0
"""Points between a table or figure and its caption, at most: four lines of text."""

_LEAST_SIDE = 40.0
"""Points; smaller pictures are icons and rules."""

_MOST_PATHS = 1_000
"""Paths of a page that are gathered into drawings: 0.6 CPU-s, and it grows with their square."""

_MOST_OF_PAGE = 0.7
"""Share of the page from which a drawing is its frame or background."""

_SAME = 0.5
"""Share of the smaller of two boxes that lies in the other when they are one thing."""

_NAMED = re.compile(r"\s*(?:Figure|Fig\.)\s", re.IGNORECASE)
_DRAWN = "drawing:"
_PICTURE_KEY = ("width", "height", "bpc", "cs-name", "size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure as placed on the page; `digest` tells it from others by its size and shape."""

    bbox: BBox
    digest: str

    @property
    def is_drawn(self) -> bool:
        """Whether it is made of lines and areas, with a caption."""
        return self.digest.startswith(_DRAWN)


def find_pictures(
    document: Any, page: Any, blocks: Sequence[dict[str, Any]], tables: Sequence[BBox]
) -> tuple[Picture, ...]:
    """Return the figures of an unrotated page; *blocks* are those of `get_text("dict")`.

    Drawings are looked for beside captions only: elsewhere lines are rules, frames and ornaments.
    """
    images = tuple(_images(page))
    captions = [to_box(block["bbox"]) for block in blocks if _names_figure(block)]
    if not captions or content_length(document, page) > MAX_CONTENT:
        return images
    taken = (*tables, *(image.bbox for image in images))
    try:
        return (*images, *_drawings(page, captions, taken))
    except pdf_errors() as error:
        raise_if_exhausted(error)
        return images  # a drawing that cannot be read costs no text


def gap_between(caption: BBox, other: BBox) -> float:
    """Return the vertical distance of two boxes that share a column, else one out of reach."""
    if min(caption.x1, other.x1) <= max(caption.x0, other.x0):
        return REACH + 1
    return max(0.0, other.y0 - caption.y1, caption.y0 - other.y1)


def _images(page: Any) -> Iterator[Picture]:
    if not page.get_images():
        return
    for info in page.get_image_info():
        box = to_box(info["bbox"])
        if _is_large(box):
            # Hashing the pixels would unpack them, gigabytes from a hostile file.
            yield Picture(bbox=box, digest=":".join(str(info[key]) for key in _PICTURE_KEY))


def _names_figure(block: dict[str, Any]) -> bool:
    lines = block.get("lines", ())
    return bool(lines) and bool(_NAMED.match("".join(span["text"] for span in lines[0]["spans"])))


def _drawings(page: Any, captions: Sequence[BBox], taken: Sequence[BBox]) -> Iterator[Picture]:
    paths = page.get_drawings() if len(page.get_cdrawings()) <= _MOST_PATHS else []
    for rect in page.cluster_drawings(drawings=paths) if paths else ():
        box = to_box(rect)
        named = any(gap_between(caption, box) <= REACH for caption in captions)
        whole = _area(box) > _MOST_OF_PAGE * page.rect.width * page.rect.height
        if named and not whole and _is_large(box) and not any(_is_same(box, other) for other in taken):
            shape = f"{box.x1 - box.x0:.0f}x{box.y1 - box.y0:.0f}"
            inside = sum(bool(rect.contains(path["rect"])) for path in paths)
            yield Picture(bbox=box, digest=f"{_DRAWN}{shape}:{inside}")


def _is_large(box: BBox) -> bool:
    return min(box.x1 - box.x0, box.y1 - box.y0) >= _LEAST_SIDE


def _is_same(one: BBox, other: BBox) -> bool:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return width > 0 and height > 0 and width * height > _SAME * min(_area(one), _area(other))


def _area(box: BBox) -> float:
    return (box.x1 - box.x0) * (box.y1 - box.y0)
