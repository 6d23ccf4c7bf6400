"""Figures of a page, and cheap signs of whether it may contain a table."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.opening import area, pdf_errors, raise_if_exhausted, shared_area, to_box
from schemas.nodes import BBox

MAX_CONTENT = 1_000_000
"""Bytes of page content, compressed, above which rulings are not looked at: maps and plots."""

MAX_PATHS = 5_000
"""Vector paths above which finding tables takes seconds."""

_LEAST_RULINGS = 3
"""Rulings in each direction that 2 x 2 cells need; a framed box has only two."""

_LEAST_ROWS = 3
_GAP = 0.8
"""Rows of texts side by side that a table has at least, and the gap between two texts in sizes of type."""

_THIN = 2.0
_GRID = 3.0
"""Points: how thick a ruling is, how close two count as one."""

_BULLET = 2
"""Code points that a bullet or a list number has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What a page shows: a grid of rulings; or rows of texts side by side, alone or between rulings."""

    grid: bool = False
    columns: bool = False


def read_paths(document: Any, page: Any) -> tuple[Sequence[dict[str, Any]] | None, str]:
    """Return what is drawn on a page; None, and a warning, where it is too much to look at."""
    if content_length(document, page) > MAX_CONTENT:
        return None, f"page {page.number + 1}: tables not looked for, page content is too long"
    paths: Sequence[dict[str, Any]] = page.get_cdrawings()
    if len(paths) > MAX_PATHS:
        return None, f"page {page.number + 1}: tables not looked for, {len(paths)} drawings"
    return paths, ""


def table_signs(paths: Sequence[dict[str, Any]], blocks: Iterable[dict[str, Any]]) -> Signs:
    """Look at the rulings among *paths* and at the places of lines (blocks of `get_text("dict")`)."""
    xs, ys = _rulings(paths)
    rows = list(_texts_a_row(blocks))
    between = max(xs, ys) >= 2 and sum(texts >= 2 for texts in rows) >= _LEAST_ROWS
    alone = sum(texts >= 3 for texts in rows) >= _LEAST_ROWS
    return Signs(grid=min(xs, ys) >= _LEAST_RULINGS, columns=between or alone)


def content_length(document: Any, page: Any) -> int:
    """Return the bytes of a page's content, compressed."""
    return sum(_length(document, xref) for xref in page.get_contents())


def _length(document: Any, xref: int) -> int:
    kind, value = document.xref_get_key(xref, "Length")
    if kind == "xref":
        value = document.xref_object(int(value.split()[0]))
    return int(value) if value.isdecimal() else 0


def _rulings(paths: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Count the distinct upright and level rulings."""
    xs: set[int] = set()
    ys: set[int] = set()
    for path in paths:
        for item in path["items"]:
            _add_rulings(item, xs, ys)
    return len(xs), len(ys)


def _add_rulings(item: Any, xs: set[int], ys: set[int]) -> None:
    if item[0] == "l":
        (x0, y0), (x1, y1) = item[1], item[2]
    elif item[0] == "re":
        x0, y0, x1, y1 = item[1]
    else:
        return
    if abs(y1 - y0) < _THIN:
        ys.add(round(y0 / _GRID))
    elif abs(x1 - x0) < _THIN:
        xs.add(round(x0 / _GRID))
    elif item[0] == "re":
        xs.update((round(x0 / _GRID), round(x1 / _GRID)))
        ys.update((round(y0 / _GRID), round(y1 / _GRID)))


def _texts_a_row(blocks: Iterable[dict[str, Any]]) -> Iterable[int]:
    """Count the texts that stand apart on each baseline; turned text has its baselines upright."""
    rows: dict[tuple[bool, int], list[tuple[float, float, dict[str, Any]]]] = defaultdict(list)
    for block in blocks:
        for line in block.get("lines", ()):
            x0, y0, x1, y1 = line["bbox"]
            level = abs(line["dir"][0]) > abs(line["dir"][1])
            start, end, base = (x0, x1, y1) if level else (y0, y1, x1)
            rows[level, round(base / 2)].append((start, end, line))
    for row in rows.values():
        yield _texts_apart(sorted(row, key=lambda found: found[:2]))


def _texts_apart(row: Sequence[tuple[float, float, dict[str, Any]]]) -> int:
    texts, reached = 0, None
    for start, end, line in row:
        text = "".join(span["text"] for span in line["spans"]).strip()
        if not text:
            continue
        apart = reached is None or start - reached > _GAP * max(span["size"] for span in line["spans"])
        # A bullet or a number before an item is no column.
        texts += apart and (reached is not None or len(text) > _BULLET)
        reached = end if reached is None else max(reached, end)
    return texts


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
        whole = area(box) > _MOST_OF_PAGE * page.rect.width * page.rect.height
        if named and not whole and _is_large(box) and not any(_is_same(box, other) for other in taken):
            shape = f"{box.x1 - box.x0:.0f}x{box.y1 - box.y0:.0f}"
            inside = sum(bool(rect.contains(path["rect"])) for path in paths)
            yield Picture(bbox=box, digest=f"{_DRAWN}{shape}:{inside}")


def _is_large(box: BBox) -> bool:
    return min(box.x1 - box.x0, box.y1 - box.y0) >= _LEAST_SIDE


def _is_same(one: BBox, other: BBox) -> bool:
    return shared_area(one, other) > _SAME * min(area(one), area(other))
