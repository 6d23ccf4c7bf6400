"""Join printed lines into running text, remembering where each line went."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ingest.parse.chunking import CountTokens
from ingest.parse.pdf.lines import Line, same_baseline
from ingest.parse.pdf.opening import around
from ingest.parse.wording import SIGN, SIGNS_MEET
from schemas.nodes import BBox

SOFT_HYPHEN = "\u00ad"
BULLETS = "•‣▪◦●○■□"
PARAGRAPH_BREAK = "\n\n"

_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_ENDS_HYPHENATED = re.compile(r"([^\W\d_]+)[-\u2010]$")
_STARTS_LOWER = re.compile(r"[^\W\d_]+")
_SHARES = frozenset(re.findall(r"\w+", "and or to und oder bzw sowie bis et ou y o e ed en of och og eller"))
"""What follows the hyphen of a word that shares its end with the next: "Bau- und Möbelholz"."""

_FIRST_PARTS = frozenset(("self", "well", "half", "cross", "quasi"))
_PIECES = 2
_LEAST_PART = 4
"""What begins a compound, letters of each of its words, and pieces that a tokenizer makes of a known word."""

_ITEM = re.compile(
    rf"\s*(?:[{BULLETS}\u2013\u2014\u2212*\u00b7\u25ba\u27a2\u2713-]|o"
    r"|\(?(?:\d{1,3}|[A-Za-z]|[ivxlc]{1,6}|[IVXLC]{1,6})[.)]|\d{1,2}(?:\.\d{1,2})+\.?)(?:\s+|$)"
)
_LEAST_NUMBERS = 3

_SAME = 3.0
"""Points by which the left edges of the items of a list differ."""

_SPACED = re.compile(rf"(?<={SIGN})\s(?={SIGN})")
_ALL_SPACED = re.compile(rf"{SIGN}(?:\s{SIGN}){{2,}}")
"""Signs that are set apart: they are no words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedLines:
    """Text and, per line, the span of code points it covers there."""

    text: str
    lines: tuple[tuple[int, int, BBox], ...]

    def bbox(self, start: int, end: int) -> BBox:
        """Return the smallest box around the lines that touch the span."""
        return around(box for low, high, box in self.lines if low < end and start < high)


def document_words(lines: Iterable[Line]) -> frozenset[str]:
    """Collect the words of a document in lower case, also with hyphens, and what ends these ("-term").

    None that a line end cuts.
    """
    words: set[str] = set()
    cut = False
    for line in lines:
        found = _WORD.findall(line.text.lower())
        ends_cut = _ENDS_HYPHENATED.search(line.text.rstrip()) is not None
        whole = found[cut : len(found) - ends_cut]
        words.update(whole, *(word.split("-") for word in whole))
        words.update(f"-{word.rpartition('-')[2]}" for word in whole if "-" in word)
        cut = ends_cut
    return frozenset(words)


def join_paragraph(
    lines: Sequence[Line], words: Collection[str], count_tokens: CountTokens = len
) -> JoinedLines:
    """Join the lines of one block by spaces, items of a list by line ends, undoing hyphenation.

    A soft hyphen goes. A hyphen goes when the next line starts in lower case, unless it stands in a compound:
    the document (`words`) has that elsewhere, or both parts as words, or each part is one word to the
    tokenizer and the whole several. Between signs of Chinese and Japanese there is no blank.
    """
    items = _items(lines)
    text = ""
    spans: list[tuple[int, int, BBox]] = []
    for at, line in enumerate(lines):
        part = " ".join(line.text.split())
        if _ALL_SPACED.fullmatch(part):
            part = _SPACED.sub("", part)
        text = _seam(text, part, words, count_tokens, begins_item=at in items)
        start = len(text)
        text += part
        spans.append((start, len(text), line.bbox))
    return JoinedLines(text=text.replace(SOFT_HYPHEN, ""), lines=tuple(_without_soft_hyphens(text, spans)))


def _items(lines: Sequence[Line]) -> set[int]:
    """Which lines begin an item: at the edge of another, behind a colon, or first; a bullet always does."""
    marked = [at for at, line in enumerate(lines) if _ITEM.match(line.text)]
    return {
        at
        for at in marked
        if lines[at].text.lstrip()[0] in BULLETS
        or not at
        or lines[at - 1].text.rstrip().endswith(":")
        or any(at != one and abs(lines[at].bbox.x0 - lines[one].bbox.x0) <= _SAME for one in marked)
    }


def join_code(lines: tuple[Line, ...]) -> JoinedLines:
    """Keep the lines of a listing as lines, indented as they stand on the page, without their numbers."""
    lines = _unnumbered(lines)
    left = min(line.bbox.x0 for line in lines)
    text = ""
    spans: list[tuple[int, int, BBox]] = []
    previous: Line | None = None
    for line in lines:
        text += _gap(previous, line, left)
        start = len(text)
        text += line.text.rstrip() if previous is None or text.endswith("\n") else line.text.strip()
        spans.append((start, len(text), line.bbox))
        previous = line
    return JoinedLines(text=text, lines=tuple(spans))


def _unnumbered(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Leave out numbers that count the lines of a listing, in a column of their own on its left."""
    numbers = [line for line in lines if line.text.strip().isdecimal()]
    others = [line for line in lines if not line.text.strip().isdecimal()]
    counted = [int(line.text) for line in numbers]
    if len(numbers) < _LEAST_NUMBERS or not others or counted != list(range(counted[0], counted[-1] + 1)):
        return lines
    aside = max(line.bbox.x1 for line in numbers) <= min(line.bbox.x0 for line in others)
    return tuple(others) if aside else lines


def join_texts(parts: Iterable[JoinedLines]) -> JoinedLines:
    """Put one text behind another with an empty line between."""
    text = ""
    spans: list[tuple[int, int, BBox]] = []
    for part in parts:
        text += PARAGRAPH_BREAK if text else ""
        spans.extend((start + len(text), end + len(text), box) for start, end, box in part.lines)
        text += part.text
    return JoinedLines(text=text, lines=tuple(spans))


def _seam(
    text: str, part: str, words: Collection[str], count_tokens: CountTokens, *, begins_item: bool
) -> str:
    """What stands before a part: the text so far, with what parts the two or without the hyphen."""
    if not text or text.endswith(SOFT_HYPHEN):
        return text
    if begins_item:
        return f"{text}\n"
    hyphenated, begins = _ENDS_HYPHENATED.search(text), _STARTS_LOWER.match(part)
    if hyphenated is None or begins is None or not part[0].islower():
        return text if SIGNS_MEET.search(f"{text[-1]}\n{part[:1]}") else f"{text} "
    first, second = hyphenated.group(1).lower(), begins.group().lower()
    if second in _SHARES:
        return f"{text} "
    return text if _is_compound(first, second, words, count_tokens) else text[:-1]


def _is_compound(first: str, second: str, words: Collection[str], count_tokens: CountTokens) -> bool:
    if f"{first}-{second}" in words or first + second in words:
        return first + second not in words
    if min(len(first), len(second)) < _LEAST_PART:
        return False
    if first in _FIRST_PARTS or f"-{second}" in words or (first in words and second in words):
        return True
    return count_tokens(first) == count_tokens(second) == 1 and count_tokens(first + second) > _PIECES


def _without_soft_hyphens(text: str, spans: list[tuple[int, int, BBox]]) -> Iterator[tuple[int, int, BBox]]:
    for start, end, box in spans:
        before = text.count(SOFT_HYPHEN, 0, start)
        yield start - before, end - before - text.count(SOFT_HYPHEN, start, end), box


def _gap(previous: Line | None, line: Line, left: float) -> str:
    if previous is not None and same_baseline(previous, line):
        return " "
    width = max((line.bbox.x1 - line.bbox.x0) / max(len(line.text.rstrip()), 1), 1.0)
    indent = 0 if line.text[:1].isspace() else min(round((line.bbox.x0 - left) / width), 80)
    return ("" if previous is None else "\n") + " " * indent
