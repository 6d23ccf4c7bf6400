"""Text of a page that no reader sees: white on white, under a box, drawn in no mode, or too small to read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.letters import Box, Place, numbered, parts_of, read_arabic, rejoin
from ingest.parse.pdf.opening import load_pymupdf

TINY = 1.5
"""Points; the smallest print on packages is 4."""

_SHOWN = 16 | 32
"""Flags of letters that are filled or drawn around; in mode 3 (ISO 32000-1, 9.3.6) they are neither."""

_PALE = 0xF0
_FLAT = 12
"""Of 255: from where a colour is as good as white, and by how much the dots of an even area differ."""

_SCALE, _MOST_DOTS = 2.0, 4_000_000
_BAND = (0.45, 0.0)
"""Of the size of type: from where to where above the baseline each letter and digit leaves ink."""

_EDGE = 0.25
_LEAST_RUN = 3
"""Share of a turned letter's box left out at each side; letters of a word that a box may cover alone."""

_THIN = 2.0
_LARGE = 0.5
"""Points of a ruling; share of a page from which a picture is a scan, whose text is what it shows."""

_FIGURE = frozenset("0123456789.,")

Blocks = list[dict[str, Any]]


def find_suspects(page: Any, blocks: Sequence[dict[str, Any]], paths: Iterable[dict[str, Any]]) -> set[Place]:
    """Return the lines some of whose letters may not show.

    Whether the areas among *paths* lie above the text is asked only where they touch some.
    """
    fills = {path["seqno"]: path for path in paths if _is_area(path)}
    lines = [
        (place, line, line["bbox"])
        for place, line in numbered(blocks)
        if any(span["text"].strip() for span in line["spans"])
    ]
    pale = {place for place, line, _ in lines if any(map(_is_unseen, line["spans"]))}
    touched = [
        item
        for item in lines
        if item[0] in pale or any(_meet(item[2], fill["rect"]) for fill in fills.values())
    ]
    if not touched and not page.get_images():
        return set()
    painted = list(enumerate(page.get_bboxlog()))
    texts = [(at, box) for at, (kind, box) in painted if kind.endswith("-text")]
    areas = [
        (at, kind, box) for at, (kind, box) in painted if kind.startswith("fill-") and kind[5:] != "text"
    ]
    scans = _LARGE * abs(page.rect)
    found: set[Place] = set()
    for place, line, box in lines:
        over = [(at, kind, area) for at, kind, area in areas if _meet(box, area)]
        if not over and place not in pale:
            continue
        at = min((at for at, text in texts if _meet(box, text)), default=0)
        pictured = any(kind.startswith("fill-im") for _, kind, _ in over)
        above = any(one > at and not (kind[5:7] == "im" and _size(area) > scans) for one, kind, area in over)
        below = fills.get(max((one for one, _, _ in over if one < at), default=-1))
        silent = any(not span["char_flags"] & _SHOWN for span in line["spans"] if span["text"].strip())
        if above or (place in pale and not (silent and pictured)) or _is_like(line, below):
            found.add(place)
    return found


def _is_area(path: dict[str, Any]) -> bool:
    """Whether a path of `get_cdrawings()` is filled, and no ruling."""
    x0, y0, x1, y1 = path["rect"]
    return "f" in path["type"] and min(x1 - x0, y1 - y0) > _THIN


def _is_like(line: dict[str, Any], area: dict[str, Any] | None) -> bool:
    """Whether letters have the colour of the area that they stand on."""
    if area is None or not area.get("fill"):
        return False
    colors = [[span["color"] >> shift & 255 for shift in (16, 8, 0)] for span in line["spans"]]
    return any(
        all(abs(one - 255 * other) <= _FLAT for one, other in zip(color, area["fill"], strict=False))
        for color in colors
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """What is left of a page: its blocks and words, as pymupdf gives them, and how many letters were not."""

    blocks: Blocks
    words: list[Any]
    hidden: int


def read_letters(page: Any, textpage: Any, suspects: set[Place], *, arabic: bool) -> Seen:
    """Read a page letter by letter, without what has no ink where lines are *suspects*."""
    blocks: Blocks = page.get_text("rawdict", textpage=textpage)["blocks"]
    hidden = 0
    if suspects:
        ink = _Ink(page)
        for place, line in numbered(blocks):
            if place in suspects:
                hidden += sum(_drop(span, ink, level=line["dir"][0] > 0.99) for span in line["spans"])
    if arabic:
        read_arabic(blocks)
    return Seen(blocks, rejoin(blocks), hidden)


def _is_unseen(span: dict[str, Any]) -> bool:
    """Whether a span is white, drawn in no way, or tiny."""
    color = span["color"]
    pale = min(color >> 16, color >> 8 & 255, color & 255) >= _PALE
    return pale or span["size"] < TINY or not span["char_flags"] & _SHOWN or not span["alpha"]


class _Ink:
    """The page as a reader sees it, annotations too."""

    def __init__(self, page: Any) -> None:
        pymupdf = load_pymupdf()
        self._scale = min(_SCALE, (_MOST_DOTS / max(abs(page.rect), 1.0)) ** 0.5)
        picture = page.get_pixmap(matrix=pymupdf.Matrix(self._scale, self._scale), alpha=False)
        self._dots, self._stride, self._depth = bytes(picture.samples), picture.stride, picture.n
        self._width, self._height = picture.width, picture.height

    def is_even(self, box: Box) -> bool:
        """Whether all dots in a box are of one colour."""
        x0, y0, x1, y1 = (round(side * self._scale) for side in box)
        x0, y0 = max(x0, 0), max(y0, 0)
        x1, y1 = min(max(x1, x0 + 1), self._width), min(max(y1, y0 + 1), self._height)
        rows = [
            self._dots[y * self._stride + x0 * self._depth : y * self._stride + x1 * self._depth]
            for y in range(y0, y1)
        ]
        dots = b"".join(rows)
        channels = [dots[channel :: self._depth] for channel in range(self._depth)]
        return bool(dots) and all(max(channel) - min(channel) <= _FLAT for channel in channels)


def _drop(span: dict[str, Any], ink: _Ink, *, level: bool) -> int:
    """Take the letters of a span that leave no ink out of it, and say how many; signs go with letters."""
    if span["size"] < TINY:
        tiny, span["chars"] = span["chars"], []
        return sum(1 for char in tiny if str(char["c"]).isalnum())
    kept: list[dict[str, Any]] = []
    total = 0
    for word in parts_of(span["chars"]):
        even = _even(word, ink, span["size"], level)
        total += sum(even)
        kept.extend(char for char, is_even in zip(word, even, strict=True) if not is_even)
    if total:
        span["chars"] = kept if any(char["c"].strip() for char in kept) else []
    return total


def _even(word: Sequence[dict[str, Any]], ink: _Ink, size: float, level: bool) -> list[bool]:
    """Say of each sign of a word whether it is hidden: all of it, or a run of letters."""
    judged = [char["c"].isalnum() for char in word]
    found = [
        ink.is_even(_inside(char, size, level)) if is_judged else None
        for char, is_judged in zip(word, judged, strict=True)
    ]
    if not any(judged):
        return [ink.is_even(char["bbox"]) if not char["c"].isspace() else False for char in word]
    last = next(one for one in found if one is not None)
    filled: list[bool] = []
    for one in found:
        last = last if one is None else one
        filled.append(last)
    if all(filled):
        return filled
    covered = [is_even and _run(filled, at) >= _LEAST_RUN for at, is_even in enumerate(filled)]
    # Half of a number is another number.
    figures = [char["c"] in _FIGURE for char in word]
    for at in (*range(1, len(word)), *reversed(range(len(word) - 1))):
        near = covered[at - 1] or covered[min(at + 1, len(word) - 1)]
        covered[at] = covered[at] or (figures[at] and near)
    return covered


def _run(flags: Sequence[bool], at: int) -> int:
    start, end = at, at
    while start and flags[start - 1]:
        start -= 1
    while end < len(flags) and flags[end]:
        end += 1
    return end - start


def _inside(char: dict[str, Any], size: float, level: bool) -> Box:
    x0, y0, x1, y1 = char["bbox"]
    if level:
        base = char["origin"][1]
        return (x0, base - _BAND[0] * size, x1, base - _BAND[1] * size)
    aside, away = _EDGE * (x1 - x0), _EDGE * (y1 - y0)
    return (x0 + aside, y0 + away, x1 - aside, y1 - away)


def _meet(one: Box, other: Box) -> bool:
    """Whether a box reaches over the middle of the height of a line, the first one."""
    middle = (one[1] + one[3]) / 2
    return other[1] <= middle <= other[3] and other[0] < one[2] and one[0] < other[2]


def _size(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
