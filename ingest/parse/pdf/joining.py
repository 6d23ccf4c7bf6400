"""Join printed lines into running text, remembering where each line went."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ingest.parse.pdf.lines import Line
from schemas.geometry import BBox

SOFT_HYPHEN = "\u00ad"
BULLETS = "•‣▪◦●○■□"
PARAGRAPH_BREAK = "\n\n"

_WORD = re.compile(r"[^\W\d_]+")
_ENDS_HYPHENATED = re.compile(r"([^\W\d_]+)[-\u2010]$")
_STARTS_LOWER = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedLines:
    """Text and, per line, the span of code points it covers there."""

    text: str
    lines: tuple[tuple[int, int, BBox], ...]

    def bbox(self, start: int, end: int) -> BBox:
        """Return the smallest box around the lines that touch the span."""
        boxes = [box for low, high, box in self.lines if low < end and start < high]
        union = boxes[0]
        for box in boxes[1:]:
            union = union.union(box)
        return union


def words_of(lines: Iterable[Line]) -> frozenset[str]:
    """Collect the words of a document, in lower case, that a hyphenated line end may make."""
    return frozenset(word for line in lines for word in _WORD.findall(line.text.lower()))


def join_paragraph(lines: Iterable[Line], words: Collection[str]) -> JoinedLines:
    """Join the lines of one block by spaces, items of a list by line ends, undoing hyphenation.

    A soft hyphen goes. A hyphen goes when the next line starts in lower case and the joined word occurs
    elsewhere in the document (`words`); else it stays, and `well-` + `known` is `well-known`.
    """
    text = ""
    spans: list[tuple[int, int, BBox]] = []
    for line in lines:
        part = " ".join(line.text.split())
        text, part = _seam(text, part, words)
        start = len(text)
        text += part
        spans.append((start, len(text), line.bbox))
    return JoinedLines(text=text.replace(SOFT_HYPHEN, ""), lines=tuple(_without_soft_hyphens(text, spans)))


def join_code(lines: tuple[Line, ...]) -> JoinedLines:
    """Keep the lines of a listing as lines, indented as they stand on the page."""
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


def join_parts(parts: Iterable[JoinedLines]) -> JoinedLines:
    """Put one text behind another with an empty line between."""
    text = ""
    spans: list[tuple[int, int, BBox]] = []
    for part in parts:
        text += PARAGRAPH_BREAK if text else ""
        spans.extend((start + len(text), end + len(text), box) for start, end, box in part.lines)
        text += part.text
    return JoinedLines(text=text, lines=tuple(spans))


def same_baseline(one: Line, other: Line) -> bool:
    """Whether two lines stand side by side: they share most of their height."""
    shared = min(one.bbox.y1, other.bbox.y1) - max(one.bbox.y0, other.bbox.y0)
    return shared > 0.6 * min(one.bbox.y1 - one.bbox.y0, other.bbox.y1 - other.bbox.y0)


def _seam(text: str, part: str, words: Collection[str]) -> tuple[str, str]:
    if not text or text.endswith(SOFT_HYPHEN):
        return text, part
    if part[0] in BULLETS:
        return f"{text}\n", part
    hyphenated, begins = _ENDS_HYPHENATED.search(text), _STARTS_LOWER.match(part)
    if hyphenated is None or begins is None or not part[0].islower():
        return f"{text} ", part
    whole = (hyphenated.group(1) + begins.group()).lower()
    return (text[:-1] if whole in words else text), part


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
