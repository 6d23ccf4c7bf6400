"""Words of a page as rows of texts that stand apart, and which of those are figures."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.parse.pdf.layout import Word
from schemas.geometry import BBox

_APART = 0.75
_FIGURES_APART = 0.4
"""Gap between two texts of a row, in heights of a word, and between two figures, which no sentence has."""

_SHARED_HEIGHT = 0.5

_NUMBER = (
    r"[(\[<>~≤≥±]*\s?[-+\u2212\u2013]?\s?[$€£¥]?\s?[-+\u2212]?\.?\d[\d.,'\u2019\s]*(?:\s?(?:[%‰)\]*†‡°]|pp))*"
)
_FIGURE = re.compile(rf"{_NUMBER}(?:\s?(?:[-\u2013\u2014/±(]|to|bis)\s?{_NUMBER})?")
_STAND_IN = re.compile(r"[-\u2013\u2014\u2212.:*x]{1,3}|n\.?/?a\.?|c", re.IGNORECASE)
_SIGN_BEFORE = frozenset("$€£¥")
_SIGN_BEHIND = frozenset("%)")
_ONE_FIGURE = re.compile(r"[-+\u2212(]?\d[\d.,]*[)%*]{0,2}")
_THOUSANDS = re.compile(r"\d{3}(?:[.,]\d+)?[)%*]{0,2}")


def holds_several_figures(text: str) -> bool:
    """Whether a cell holds the figures of several rows, as "1.5 2.5 14" does and "1 204 310" does not."""
    words = text.split()
    return (
        len(words) > 1
        and all(map(_ONE_FIGURE.fullmatch, words))
        and not all(map(_THOUSANDS.fullmatch, words[1:]))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCell:
    """Words of a row without a wide gap between them."""

    bbox: BBox
    text: str

    @property
    def is_figure(self) -> bool:
        """Whether it is a number with its signs."""
        return _FIGURE.fullmatch(self.text) is not None

    @property
    def stands_in(self) -> bool:
        """Whether it stands where a number is missing, as a dash does."""
        return _STAND_IN.fullmatch(self.text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """Cells on one baseline, from left to right."""

    bbox: BBox
    cells: tuple[TextCell, ...]

    @property
    def text(self) -> str:
        """The row as a reader says it."""
        return " ".join(cell.text for cell in self.cells)

    @property
    def figures(self) -> int:
        """How many of its cells are numbers."""
        return sum(cell.is_figure for cell in self.cells)


def rows_of(words: Iterable[Word]) -> tuple[TextRow, ...]:
    """Return the rows of level words, from top to bottom."""
    rows = [TextRow(bbox=around(cells), cells=cells) for cells in map(_cells, _lines(words)) if cells]
    return tuple(sorted(rows, key=lambda row: (row.bbox.y0, row.bbox.x0)))


def _lines(words: Iterable[Word]) -> list[list[Word]]:
    """Gather words that share half of their height with the first of a row."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word[1] + word[3], word[0])):
        if word[4].strip() and word[3] > word[1]:
            # Words come by the height of their middle, so only the last rows can be theirs.
            home = next((line for line in reversed(lines[-3:]) if _shares(line[0], word)), None)
            if home is None:
                lines.append([word])
            else:
                home.append(word)
    return lines


def _shares(one: Word, other: Word) -> bool:
    shared = min(one[3], other[3]) - max(one[1], other[1])
    return shared > _SHARED_HEIGHT * min(one[3] - one[1], other[3] - other[1])


def _cells(line: Sequence[Word]) -> tuple[TextCell, ...]:
    words = sorted(line, key=lambda word: (word[0], word[2]))
    groups = [[words[0]]]
    for last, word in pairwise(words):
        if _stands_apart(last, word):
            groups.append([word])
        else:
            groups[-1].append(word)
    return tuple(_cell(group) for group in groups)


def _stands_apart(last: Word, word: Word) -> bool:
    gap, height = word[0] - last[2], max(last[3] - last[1], word[3] - word[1])
    # Ledgers set the sign of the currency at the left edge of its column.
    if last[4] in _SIGN_BEFORE or word[4] in _SIGN_BEHIND:
        return False
    both = last[4][-1].isdigit() and word[4][0].isdigit() and len(word[4]) != len("000")
    return gap > (_FIGURES_APART if both else _APART) * height


def _cell(words: Sequence[Word]) -> TextCell:
    box = BBox(
        round(min(word[0] for word in words), 2),
        round(min(word[1] for word in words), 2),
        round(max(word[2] for word in words), 2),
        round(max(word[3] for word in words), 2),
    )
    return TextCell(bbox=box, text=" ".join(word[4] for word in words))


def around(cells: Iterable[TextCell]) -> BBox:
    """Return the smallest box around cells."""
    boxes: Iterator[BBox] = iter([cell.bbox for cell in cells])
    union = next(boxes)
    for box in boxes:
        union = union.union(box)
    return union
