"""Letters that are not what is printed: left out, garbled by the font map, or hidden from readers."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any

from ingest.parse.pdf.lines import cut_between
from ingest.parse.pdf.opening import load_pymupdf

Box = tuple[float, float, float, float]
Place = tuple[int, int]
"""Numbers of a block and of a line in it."""

_ARABIC = re.compile(r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]")
_JOINED = re.compile(r"[\ufb50-\ufdff\ufe70-\ufefc]")
_LEAST_GAP = 0.2
"""Size of type: the gap between two letters from which they are of two words."""


def is_arabic(blocks: Sequence[dict[str, Any]]) -> bool:
    """Whether a page has a line of Arabic; *blocks* are those of `get_text("dict")`."""
    return any(
        not span["text"].isascii() and _ARABIC.search(span["text"])
        for _, line in numbered(blocks)
        for span in line["spans"]
    )


def read_arabic(blocks: Sequence[dict[str, Any]]) -> None:
    """Put the letters of *blocks* of `get_text("rawdict")`, with ligatures, into the order they are read in.

    A ligature is two letters only then: before, MuPDF would turn them round.
    """
    for _, line in numbered(blocks):
        for span in line["spans"]:
            if any(_ARABIC.match(char["c"]) for char in span["chars"]):
                span["chars"] = [_told(char) for char in _parted(_as_read(span["chars"]), span["size"])]


def _as_read(chars: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From right to left, but for numbers and words in other letters, where a line has such."""
    if not any(_runs_right(char) for char in chars):
        return chars
    clusters: list[list[dict[str, Any]]] = []
    for char in chars:
        if clusters and unicodedata.combining(char["c"][0]):
            clusters[-1].append(char)
        else:
            clusters.append([char])
    clusters.sort(key=lambda cluster: -cluster[0]["bbox"][2])
    found: list[dict[str, Any]] = []
    run: list[list[dict[str, Any]]] = []
    for cluster in [*clusters, []]:
        if cluster and _runs_right(cluster[0]):
            run.append(cluster)
            continue
        found.extend(char for one in reversed(run) for char in one)
        run = []
        found.extend(cluster)
    return found


def _runs_right(char: dict[str, Any]) -> bool:
    return unicodedata.bidirectional(char["c"][0]) in {"L", "EN", "AN", "ES", "CS"}


def _parted(chars: Sequence[dict[str, Any]], size: float) -> Iterator[dict[str, Any]]:
    """Put a blank where two words stand apart without one."""
    yield from chars[:1]
    for char, after in pairwise(chars):
        gap = max(char["bbox"][0] - after["bbox"][2], after["bbox"][0] - char["bbox"][2])
        if gap > _LEAST_GAP * size and not (char["c"].isspace() or after["c"].isspace()):
            yield {**char, "c": " "}
        yield after


def _told(char: dict[str, Any]) -> dict[str, Any]:
    return {**char, "c": unicodedata.normalize("NFKC", char["c"])} if _JOINED.match(char["c"]) else char


def rejoin(blocks: Sequence[dict[str, Any]]) -> list[Any]:
    """Give lines of `get_text("rawdict")` text and boxes by the letters that they have; return the words."""
    for block in blocks:
        block["lines"] = [line for line in map(_rejoined, block.get("lines", ())) if line["spans"]]
    return list(_words(blocks))


def _rejoined(line: dict[str, Any]) -> dict[str, Any]:
    spans = [
        {**span, "text": "".join(char["c"] for char in span["chars"]), "bbox": _around(span["chars"])}
        for span in line["spans"]
        if span["chars"]
    ]
    return {**line, "spans": spans, "bbox": _around(spans) if spans else line["bbox"]}


def _around(items: Sequence[dict[str, Any]]) -> Box:
    x0, y0, x1, y1 = zip(*(item["bbox"] for item in items), strict=True)
    return (min(x0), min(y0), max(x1), max(y1))


def _words(
    blocks: Sequence[dict[str, Any]],
) -> Iterator[tuple[float, float, float, float, str, int, int, int]]:
    """The words that are left, as `get_text("words")` has them."""
    for (block, number), line in numbered(blocks):
        chars = [char for span in line["spans"] for char in span["chars"]]
        for at, word in enumerate(split_words(chars)):
            said = [char for char in word if not char["c"].isspace()]
            if said:
                yield (*_around(said), "".join(char["c"] for char in said), block, number, at)


def split_words(chars: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], ...]]:
    """Yield words, each with the blanks behind it."""
    return cut_between(chars, lambda char, after: char["c"].isspace() and not after["c"].isspace())


def numbered(blocks: Sequence[dict[str, Any]]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the lines of blocks with their numbers."""
    for block in blocks:
        for number, line in enumerate(block.get("lines", ())):
            yield (block["number"], number), line


_LEAST_LETTERS = 150
_LEAST_SHARE = 0.6
"""Letters to judge by, and their share of all signs: figures have no language."""

_FREQUENCY = {
    "e": 12.8, "a": 9.5, "i": 7.8, "n": 7.6, "t": 7.0, "o": 6.8, "s": 6.6, "r": 6.5, "l": 4.6, "d": 4.0,
    "u": 3.9, "c": 3.0, "m": 2.8, "h": 2.7, "p": 2.4, "g": 1.9, "b": 1.5, "f": 1.4, "v": 1.5, "k": 1.2,
    "y": 1.2, "w": 1.0, "z": 0.9, "j": 0.5, "x": 0.3, "q": 0.3,
}  # fmt: skip
"""Letters of each hundred, the mean of English, German, French, Spanish, Italian and Polish (Wikipedia)."""

_OTHER = log(0.002)
_LOGS = {letter: log(share / 100) for letter, share in _FREQUENCY.items()}
_SHIFTS = (*range(-31, 0), *range(1, 32))
_LIKE = -3.3
"""What a letter of real text has at least, and does not need a closer look; English has -3.0."""

_CLEARLY = 0.5
_LEAST_VOWELS = 0.2
"""By how much, for each letter, moved letters must be more like a language; share of vowels in all."""


def is_garbled(text: str) -> bool:
    """Whether a text in Latin letters is moved along the alphabet, or has hardly a vowel."""
    signs = Counter({sign: count for sign, count in Counter(text).items() if not sign.isspace()})
    letters = sum(count for sign, count in signs.items() if sign.isascii() and sign.isalpha())
    total = signs.total()
    if letters < _LEAST_LETTERS or letters < _LEAST_SHARE * total:
        return False
    kept = Counter({sign: count for sign, count in signs.items() if not sign.isdigit()})
    own = _likeness(kept, 0)
    if own > _LIKE:
        return False
    small = sum(count for sign, count in kept.items() if sign.islower())
    vowels = sum(count for sign, count in kept.items() if sign.lower() in "aeiouy" or not sign.isascii())
    mute = vowels < _LEAST_VOWELS * letters and small > letters / 2
    return mute or any(_likeness(kept, by) > own + _CLEARLY for by in _SHIFTS)


def _likeness(signs: Counter[str], by: int) -> float:
    said = sum(
        count * _LOGS.get(chr(max(ord(sign) + by, 0)).lower(), _OTHER) for sign, count in signs.items()
    )
    return said / signs.total()


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
    for word in split_words(span["chars"]):
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
