"""What the text of a page says about tables on it: captions, and texts that line up in columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.aligned import Aligned, find_aligned
from ingest.parse.pdf.caption_lines import is_table_caption
from ingest.parse.pdf.cells import rows_of
from ingest.parse.pdf.columns import find_gutter
from ingest.parse.pdf.fonts import is_mono
from ingest.parse.pdf.layout import Word
from schemas.geometry import BBox

_LEAST_SIGNS = 20
"""Signs of a block that shows a column of text."""

_TYPEWRITTEN = 0.8
"""Share of the letters of a page in a typewriter face from which it is the face of the text, not of code."""

PlacedWord = tuple[float, float, float, float, str, int, int, int]
"""A word of `get_text("words")`: its box, text, block, line and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Whether a line begins as the caption of a table, and which rows line up as tables do."""

    caption: bool = False
    aligned: tuple[Aligned, ...] = ()

    def __bool__(self) -> bool:
        return self.caption or bool(self.aligned)


def find_evidence(words: Sequence[PlacedWord], blocks: Sequence[dict[str, Any]], width: float) -> Evidence:
    """Look for tables in the level text of a page, 2 CPU-ms; *blocks* are those of `get_text("dict")`.

    Listings are left out, whose columns are no table, and each of two columns of text is looked at alone.
    """
    lines = {
        (block["number"], number): line
        for block in blocks
        for number, line in enumerate(block.get("lines", ()))
    }
    typewritten = _typewritten(lines)
    taken = [
        word
        for word in words
        if (line := lines.get((word[5], word[6]))) is not None
        and line["dir"][0] > 0.99  # noqa: PLR2004
        and (typewritten or not all(is_mono(span) for span in line["spans"]))
    ]
    caption = False
    found: list[Aligned] = []
    for column in _columns(taken, blocks, width):
        rows = rows_of(column)
        caption = caption or any(is_table_caption(row.text) for row in rows)
        found.extend(find_aligned(rows))
    return Evidence(caption=caption, aligned=tuple(found))


def _typewritten(lines: Mapping[tuple[int, int], dict[str, Any]]) -> bool:
    letters = mono = 0
    for line in lines.values():
        for span in line["spans"]:
            letters += len(span["text"])
            mono += len(span["text"]) if is_mono(span) else 0
    return mono >= _TYPEWRITTEN * letters


def _columns(
    words: Sequence[PlacedWord], blocks: Sequence[dict[str, Any]], width: float
) -> Iterator[list[Word]]:
    boxes = {block["number"]: BBox(*block["bbox"]) for block in blocks if _signs(block) >= _LEAST_SIGNS}
    gutter = find_gutter(list(boxes.values()), width)
    if gutter is None:
        yield [word[:5] for word in words]
        return
    spanning = {number for number, box in boxes.items() if box.x0 < gutter < box.x1}
    yield [word[:5] for word in words if word[5] not in spanning and word[2] <= gutter]
    yield [word[:5] for word in words if word[5] not in spanning and word[0] >= gutter]
    yield [word[:5] for word in words if word[5] in spanning]


def _signs(block: dict[str, Any]) -> int:
    return sum(len(span["text"]) for line in block.get("lines", ()) for span in line["spans"])
