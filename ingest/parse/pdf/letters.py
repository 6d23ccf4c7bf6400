"""Lines and words made anew of letters: where some are left out, or Arabic is stored as it is drawn."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

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
        for at, word in enumerate(parts_of(chars)):
            said = [char for char in word if not char["c"].isspace()]
            if said:
                yield (*_around(said), "".join(char["c"] for char in said), block, number, at)


def parts_of(chars: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield words, each with the blanks behind it."""
    word: list[dict[str, Any]] = []
    for char in chars:
        if word and not char["c"].isspace() and word[-1]["c"].isspace():
            yield word
            word = []
        word.append(char)
    if word:
        yield word


def numbered(blocks: Sequence[dict[str, Any]]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the lines of blocks with their numbers."""
    for block in blocks:
        for number, line in enumerate(block.get("lines", ())):
            yield (block["number"], number), line
