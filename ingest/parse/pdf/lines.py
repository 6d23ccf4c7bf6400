"""Lines of text from spans as MuPDF gives them: type, raised and lowered signs, mathematics."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any, TypeVar

from ingest.parse.pdf.opening import share_height, to_box
from ingest.parse.wording import lowered, raised
from schemas.nodes import BBox, PageSize

T = TypeVar("T")

_BOLD, _MONO, _ITALIC = 16, 8, 2
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi|cmbx", re.IGNORECASE)
_MONO_NAME = re.compile(
    r"mono|nimbusmon|monaco|courier|consol|typewriter|inconsolata|menlo|source ?code|fira ?code|cascadia"
    r"|letter ?gothic|cmtt|cmsltt|\dxtt",
    re.IGNORECASE,
)

_LEAST_SPANS = 6
_LEAST_LETTERS = 3
_ONE_WIDTH = 0.03
"""Spans with so many letters by which a font is judged, and how far the widths of one may lie apart."""


def is_bold(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in bold."""
    return bool(span["flags"] & _BOLD) or bool(_BOLD_NAME.search(span["font"]))


def is_italic(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in italics."""
    return bool(span["flags"] & _ITALIC)


def is_mono(span: dict[str, Any]) -> bool:
    """Whether a span of `get_text("dict")` is set in a typewriter face."""
    return bool(span["flags"] & _MONO) or bool(_MONO_NAME.search(span["font"]))


def monospaced_fonts(spans: Iterable[dict[str, Any]]) -> frozenset[str]:
    """Return the fonts, by name, whose letters are all of one width; some files give theirs bare numbers."""
    widths: dict[str, list[float]] = defaultdict(list)
    for span in spans:
        text = span["text"].strip()
        if sum(char.isalpha() for char in text) >= _LEAST_LETTERS and text == span["text"]:
            x0, _, x1, _ = span["bbox"]
            widths[span["font"]].append((x1 - x0) / len(text) / max(span["size"], 1.0))
    return frozenset(
        font
        for font, found in widths.items()
        if len(found) >= _LEAST_SPANS and max(found) - min(found) < _ONE_WIDTH * max(found)
    )


_FONT = re.compile(
    r"(?:CM(?:MI|SY|EX|BSY)|MS[AB]M|EU[FRS]M|RSFS|LM(?:Math|MI|SY|EX)|[rt]?[pt]x(?:mi|sy|ex)|NewTX|MT(?:MI|SY|EX|-?Extra)"
    r"|STIXGeneral-(?:Italic|NonUni|Size)|STIX\w*Math|KaTeX_(?:Math|AMS|Size|Cal)|MathJax|Pazo|esint|bbm|dsrom)"
    r"|\w*Math\b",
    re.IGNORECASE,
)
_GREEK = re.compile(r"[\u0391-\u03c9\u03d1\u03d5\u03f5]")


@cache
def is_math_font(name: str) -> bool:
    """Whether a font has been made for mathematics; *name* as in the file, without a subset's prefix."""
    return bool(_FONT.match(name))


def count_math(text: str, *, in_math_font: bool) -> int:
    """Count the characters that speak of mathematics; those of ASCII do so by their font alone."""
    if text.isascii() and not in_math_font:
        return 0
    return sum(
        in_math_font
        or (not char.isascii() and (unicodedata.category(char) == "Sm" or bool(_GREEK.match(char))))
        for char in text
        if not char.isspace()
    )


_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""Controls and lone surrogates that broken font maps give; the latter cannot be written as UTF-8."""

_WIDE_SPACE = 3.0
"""Times the size of type that a justified space may be wide."""

_COPY = 1.5
_CAP = 1.8
"""Points that the copy of a line is off it; times the size of the text that a large first letter has."""

_KANA = re.compile(r"[\s\u3040-\u30ff]+")
_RUBY = 0.6
"""Size of ruby, in that of the line below."""

_SMALL = 0.85
_LEAST_SHIFT, _MOST_SHIFT = 0.08, 0.8
"""Of the size of a line: how small raised and lowered signs are, and how far off its baseline."""

_NUMBERS = re.compile(r"\(?\d{1,3}(?:\s?[,\u2013-]\s?\d{1,3})*\)?")
_NOTES = re.compile(r"[\d\s.(\u2013-]*[,;)*\u2020\u2021\u00a7][\d\s,;.()\u2013\u2020\u2021\u00a7*-]*")
_WORD = 3
"""Letters from which on small text off its line is a word: scans and notes by hand have such."""
_UNITS = frozenset(
    ["mm", "cm", "dm", "km", "nm", "µm", "μm", "ft", "in", "yd", "mi", "kg", "mg", "ms", "hz", "pa", "ha"]
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_BASE = re.compile(r"[^\W\d_]{2,}$|[A-Za-z\u0370-\u03ff]$|\d+$|[)\]]$")
_ELEMENT = re.compile(r"[A-Z][a-z]?(?![^\W\d_])")
"""What a raised number is a power of, if anything; or the number of an isotope of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text as MuPDF sees it; `size` and fonts are those of most of its letters.

    `math` counts mathematical characters; `ocr_conf` is the mean confidence, 0 to 1, of the words
    of a line that was recognised on a picture.
    """

    text: str
    bbox: BBox
    size: float
    bold: bool = False
    mono: bool = False
    italic: bool = False
    upright: bool = True
    math: int = 0
    ocr_conf: float | None = None


Block = tuple[Line, ...]


def tell_marks(blocks: Sequence[dict[str, Any]], words: list[Any]) -> list[Any]:
    """Write raised and lowered signs of *blocks* as such, in their *words* too.

    What a line says then stands in its spans; the words come back.
    """
    changed: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
    for block in blocks:
        for number, line in enumerate(block.get("lines", ())):
            spans = line["spans"]
            if len(spans) == 1:
                continue
            before = "".join(span["text"] for span in spans)
            for span, text in zip(spans, _told(spans, line["dir"]), strict=True):
                span["text"] = text
            after = "".join(span["text"] for span in spans)
            if after != before:
                changed[block["number"], number] = before.split(), after.split()
    return _changed_words(words, changed) if changed else words


def _changed_words(
    words: list[Any], changed: dict[tuple[int, int], tuple[list[str], list[str]]]
) -> list[Any]:
    """Give words the text that their line has; where it has other blanks they stay."""
    at: dict[tuple[int, int], int] = {}
    found = []
    for word in words:
        place, text = (word[5], word[6]), word[4]
        if place in changed:
            before, after = changed[place]
            index = at.get(place, 0)
            at[place] = index + 1
            if before[index : index + 1] == [text]:
                text = _word_at(index, before, after) or text
        found.append((*word[:4], text, *word[5:]))
    return found


def _word_at(index: int, before: Sequence[str], after: Sequence[str]) -> str:
    """What the word at *index* became: marks of notes stand apart from theirs, which is one word yet."""
    if len(before) == len(after):
        return after[index]
    start = sum(map(len, before[:index]))
    ends = list(accumulate(map(len, after)))
    inside = [one for one, end in zip(after, ends, strict=True) if start < end <= start + len(before[index])]
    is_whole = ends[-1:] == [sum(map(len, before))] and sum(map(len, inside)) == len(before[index])
    return " ".join(inside) if is_whole else ""


def _told(spans: Sequence[dict[str, Any]], direction: Sequence[float]) -> list[str]:
    texts = [span["text"] for span in spans]
    if direction[0] < 0.99:
        return texts
    main = max(spans, key=lambda span: len(span["text"].strip()) * span["size"])
    base, size = main["origin"][1], main["size"]
    for at, span in enumerate(spans):
        shift = base - span["origin"][1]
        is_off = _LEAST_SHIFT * size <= abs(shift) <= _MOST_SHIFT * size
        if span["size"] <= _SMALL * size and is_off and span["text"].strip():
            before = "".join(texts[:at])
            after = "".join(texts[at + 1 :])
            bare = span["text"].strip()
            if bare.isalpha() and len(bare) >= _WORD:
                continue  # set small or out of line, as scans have it, and no sign
            sign = lowered(bare) if shift < 0 else _raised(bare, before, after)
            texts[at] = span["text"].replace(bare, sign, 1)
    return texts


def _raised(bare: str, before: str, after: str) -> str:
    """A raised number is a power of a number, a unit or a letter; behind all else it leads to a note.

    Such a number stays as it is printed, apart from its word: what a box holds is what a citation says.
    """
    found = _BASE.search(before)
    base = found[0] if found else ""
    is_power = len(base) == 1 or base.lower() in _UNITS or (base.isdigit() and not _YEAR.fullmatch(base))
    is_note = _NUMBERS.fullmatch(bare) is not None and (not is_power or bare[-1] == ")")
    if any(map(str.isalpha, bare)) or not (is_note or _NOTES.fullmatch(bare)):
        return raised(bare)
    if not base and _ELEMENT.match(after):
        return raised(bare)
    if before[-1:] in {"(", "["}:
        return bare
    is_first = not before.strip()
    return (
        " " * (not is_first and not before[-1].isspace())
        + "".join(raised(sign) if sign.isdigit() else sign for sign in bare)
        + " " * (is_first and not after[:1].isspace())
    )


def read_line(line: dict[str, Any], page: PageSize) -> Line | None:
    """Return a line of `get_text("dict")`; None where it says nothing."""
    spans = line["spans"]
    text = _NOT_TEXT.sub("", "".join(span["text"] for span in spans))
    if not text.strip():
        return None
    weights = [(len(span["text"].strip()), span) for span in spans]
    letters = sum(weight for weight, _ in weights)
    return Line(
        text=text,
        bbox=_on_page(to_box(line["bbox"]), page),
        size=round(max(weights, key=lambda item: item[0])[1]["size"], 1),
        bold=sum(weight for weight, span in weights if is_bold(span)) >= 0.9 * letters,
        mono=sum(weight for weight, span in weights if is_mono(span)) >= 0.8 * letters,
        italic=all(is_italic(span) for weight, span in weights if weight),
        upright=line["dir"][0] > 0.99,
        math=sum(count_math(span["text"], in_math_font=is_math_font(span["font"])) for span in spans),
    )


def same_baseline(one: Line, other: Line) -> bool:
    """Whether two lines stand side by side: they share most of their height."""
    return share_height(one.bbox, other.bbox, least=0.6)


def cut_between(items: Iterable[T], is_cut: Callable[[T, T], bool]) -> Iterator[tuple[T, ...]]:
    """Yield what follows each other, cut between two neighbours where *is_cut* says so."""
    part: list[T] = []
    for item in items:
        if part and is_cut(part[-1], item):
            yield tuple(part)
            part = []
        part.append(item)
    if part:
        yield tuple(part)


def merge_lines(block: Block) -> Block:
    """Put together what MuPDF cut at the wide spaces of justified type; terms beside definitions stay two."""
    lines: list[Line] = []
    for line in block:
        if lines and _goes_on(lines[-1], line):
            lines[-1] = replace(
                line,
                text=f"{lines[-1].text} {line.text}",
                bbox=lines[-1].bbox.union(line.bbox),
                math=lines[-1].math + line.math,
            )
        else:
            lines.append(line)
    return tuple(lines)


def without_copies(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Leave out lines that are printed a second time in their place, as bold type and shadows are made."""
    seen: dict[str, list[BBox]] = {}
    found: list[Block] = []
    for block in blocks:
        lines: list[Line] = []
        for line in block:
            others = seen.setdefault(line.text.strip(), [])
            if not any(_is_same_place(line.bbox, other) for other in others):
                others.append(line.bbox)
                lines.append(line)
        found.append(tuple(lines))
    return tuple(block for block in found if block)


def _is_same_place(one: BBox, other: BBox) -> bool:
    return max(abs(one.x0 - other.x0), abs(one.y0 - other.y0), abs(one.x1 - other.x1)) <= _COPY


def without_ruby(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Leave out the small kana right above a line that say how its signs are read."""
    lines = [line for block in blocks for line in block]
    small = [line for line in lines if _KANA.fullmatch(line.text)]
    ruby = {id(line) for line in small if any(_is_ruby(line, other) for other in lines)}
    kept = (tuple(line for line in block if id(line) not in ruby) for block in blocks)
    return tuple(block for block in kept if block) if ruby else blocks


def _is_ruby(line: Line, below: Line) -> bool:
    over = below.bbox.x0 - line.size <= line.bbox.x0 and line.bbox.x1 <= below.bbox.x1 + line.size
    near = -line.size < below.bbox.y0 - line.bbox.y1 + below.size - line.size < below.size
    return over and near and line.size <= _RUBY * below.size and line.bbox.y0 < below.bbox.y0 + line.size


def with_drop_caps(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Put a large first letter before the line beside it that goes on with the word."""
    found: list[Block] = []
    for block in blocks:
        above, lines = found[-1] if found else (), block
        if len(block) > 1 and _is_cap(block[0], block[1]):
            above, lines = block[:1], block[1:]
        elif len(above) == 1 and _is_cap(above[0], block[0]):
            found.pop()
        else:
            found.append(block)
            continue
        first = replace(lines[0], text=above[0].text.strip() + lines[0].text.lstrip())
        # The letter is as high as the lines beside it.
        box = first.bbox
        found.append((replace(first, bbox=BBox(above[0].bbox.x0, box.y0, box.x1, box.y1)), *lines[1:]))
    return tuple(found)


def _is_cap(letter: Line, line: Line) -> bool:
    text = letter.text.strip()
    beside = letter.bbox.y0 - line.size <= line.bbox.y0 < letter.bbox.y1
    near = -2 <= line.bbox.x0 - letter.bbox.x1 <= 2 * line.size
    is_large = len(text) <= 2 and text[-1:].isupper() and letter.size > _CAP * line.size
    return is_large and beside and near and line.text.lstrip()[:1].isalpha()


def _goes_on(line: Line, other: Line) -> bool:
    if (line.size, line.bold, line.mono) != (other.size, other.bold, other.mono):
        return False
    if line.mono and line.text.strip().isdecimal():
        return False  # the number of a line of a listing
    gap = other.bbox.x0 - line.bbox.x1
    return line.upright and abs(line.bbox.y1 - other.bbox.y1) < 1 and 0 <= gap < _WIDE_SPACE * line.size


def _on_page(box: BBox, page: PageSize) -> BBox:
    """Cut a box at the edge of the page: of text that runs over it, MuPDF gives what is on the page."""
    x0, x1 = (min(max(x, 0.0), page.width) for x in (box.x0, box.x1))
    y0, y1 = (min(max(y, 0.0), page.height) for y in (box.y0, box.y1))
    return BBox(x0, y0, x1, y1)
