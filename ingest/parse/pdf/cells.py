"""Words of a page as rows of cells, and the lines that begin as captions of tables do."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.parse.pdf.lines import cut_between
from ingest.parse.pdf.opening import Word, around
from schemas.nodes import BBox

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


def row_of(cells: tuple[TextCell, ...]) -> TextRow:
    """Return the row that cells make."""
    return TextRow(bbox=around(cell.bbox for cell in cells), cells=cells)


def text_rows(words: Iterable[Word]) -> tuple[TextRow, ...]:
    """Return the rows of level words, from top to bottom."""
    rows = [row_of(cells) for cells in map(_cells, _lines(words)) if cells]
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
    return tuple(map(_cell, cut_between(words, _stands_apart)))


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


_WORDS = "Table|Tables|Tabelle|Tableau|Tabla|Tabela|Tabella|Tabell|Tabel"
_TABLE = re.compile(
    rf"\s*(?:{_WORDS}|{_WORDS.upper()}|Tab\.)\s+"
    r"(?:[A-Z]{1,2}[-.]?)?(?:\d+|[IVX]+)(?:[-.][\dA-Z]+)*[a-z]?"
    r"(?:\s*[:.|\u2013\u2014-]|\s*$|\s+[A-Z(\u00c0-\u00dd])"
)
"""The word, a number as "3", "A-1", "2.4b" or "IV", and then a sign, nothing, or the capital of a title."""

_SCALES = (
    r"%|per\s?cent|percentages?|thousands?|millions?|billions?|trillions?|euros?|eur|usd|gbp|dollars?|pounds?|"
    r"tonnes?|kilograms?|kg|litres?|hectares?|km|prozent|tausend|mio\.?|mrd\.?|millionen|milliarden|milliers|"
    r"milliards?"
)
_COUNTS = r"numbers?|shares?|hours?|days?|years?|persons?|tons?|metres?"
_UNIT = re.compile(
    r"\s*(?:\(?(?:units?|einheit|unité)\s*[:=]"
    rf"|\(?(?:in\s+|en\s+|[€$£¥]\s*)?(?:{_SCALES})(?!\w)"
    rf"|\(?in\s+(?:{_COUNTS})(?!\w)|\((?:{_COUNTS})\)$)",
    re.IGNORECASE,
)
"""A scale says it alone; a word such as "years" does in parentheses or after "in", or it may name columns."""

_MOST_SIGNS, _MOST_WORDS = 60, 5
"""Characters of a unit, and words of one that no bracket or "in" begins: "Thousands of users rely on this" is
a sentence."""


def is_unit(text: str) -> bool:
    """Whether a line says what the figures of a table are: "(in thousands)", "EUR million", "Unit: kg"."""
    said = text.strip()
    if not said.lower().startswith(("(", "in ", "en ", "unit")) and len(said.split()) > _MOST_WORDS:
        return False
    return len(said) <= _MOST_SIGNS and not said.endswith((".", ":")) and _UNIT.match(said) is not None


def is_table_caption(text: str) -> bool:
    """Whether a line begins as "Table 3:", "Table 3 Prices" or "Table A-1" do, and not as a sentence does."""
    return _TABLE.match(text) is not None
