"""Numbers of lines in the margin of transcripts, pleadings and drafts: taken off, and the lines joined."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from ingest.parse.pdf.lines import Block, Line, cut_between

_NUMBER = re.compile(r"\d{1,4}")
_AT_FRONT = re.compile(r"\s*(\d{1,4})\s+(?=\S)")

_LEAST = 8
_LEAST_SHARE = 0.7
"""Numbers that count on down a page, and the share of its lines beside them: a table has text around."""

_SAME = 4.0
_EVEN = 0.25
"""Points by which the edges of numbers differ, and the share by which their distances do."""

_INDENT = 8.0
_PARAGRAPH = 1.5
"""Points that a first line stands in; distances of lines, in usual ones, between paragraphs."""

_CODE = re.compile(r"[(){}\[\]<>=_]|[:;]$")
_MOST_CODE = 0.2
"""Signs of code, and the share of lines in a typewriter face with such in what is typewritten prose."""

_SPEAKER = re.compile(r"(?:[^\W\d_a-z][^a-z:]{1,40}:|[QA][.:]?\s)")


def without_line_numbers(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Take numbers that count the lines of a page off, and join its lines to paragraphs."""
    lines = [line for block in blocks for line in block if line.upright]
    if len(lines) < _LEAST or sum(_is_code(line) for line in lines) > _MOST_CODE * len(lines):
        return tuple(blocks)
    for numbers in (_alone(lines, right=False), _alone(lines, right=True), _at_front(lines)):
        if _counts_lines(numbers, lines):
            off = {id(line) for _, line in numbers}
            kept = [
                replace(line, text=_AT_FRONT.sub("", line.text) if id(line) in off else line.text, mono=False)
                for block in blocks
                for line in block
                if id(line) not in off or not _NUMBER.fullmatch(line.text.strip())
            ]
            return tuple(_paragraphs(sorted(kept, key=lambda line: (round(line.bbox.y0), line.bbox.x0))))
    return tuple(blocks)


def _is_code(line: Line) -> bool:
    return line.mono and _CODE.search(line.text.strip()) is not None


def _alone(lines: Sequence[Line], *, right: bool) -> list[tuple[int, Line]]:
    """Numbers on a side of all other text, in one line with each other."""
    found = [line for line in lines if _NUMBER.fullmatch(line.text.strip())]
    if len(found) < _LEAST:
        return []
    first, last = (
        median(edges) for edges in zip(*((line.bbox.x0, line.bbox.x1) for line in found), strict=True)
    )
    found = [line for line in found if min(abs(line.bbox.x0 - first), abs(line.bbox.x1 - last)) <= _SAME]
    edge = first if right else last
    others = [line for line in lines if not _NUMBER.fullmatch(line.text.strip())]
    aside = [line.bbox.x1 <= edge + _SAME if right else line.bbox.x0 >= edge - _SAME for line in others]
    return [(int(line.text), line) for line in found] if all(aside) else []


def _at_front(lines: Sequence[Line]) -> list[tuple[int, Line]]:
    matched = [(found, line) for line in lines if (found := _AT_FRONT.match(line.text))]
    return [(int(found[1]), line) for found, line in matched]


def _counts_lines(numbers: Sequence[tuple[int, Line]], lines: Sequence[Line]) -> bool:
    """Whether numbers count on, or by fives, at even distances, beside most lines of the page."""
    ordered = sorted(numbers, key=lambda item: item[1].bbox.y0)
    steps = {below - above for (above, _), (below, _) in pairwise(ordered)}
    if len(ordered) < _LEAST or len(steps) != 1 or not steps <= {1, 5}:
        return False
    gaps = [below.bbox.y0 - above.bbox.y0 for (_, above), (_, below) in pairwise(ordered)]
    usual = median(gaps)
    top, bottom = ordered[0][1].bbox.y0, ordered[-1][1].bbox.y1
    own = {id(line) for _, line in ordered if _NUMBER.fullmatch(line.text.strip())}
    others = [line for line in lines if id(line) not in own]
    inside = sum(top - 2 <= line.bbox.y0 and line.bbox.y1 <= bottom + 2 for line in others)
    even = sum(abs(gap - usual) <= _EVEN * usual for gap in gaps)
    texts = {round(line.bbox.x0 / _SAME) for line in others}
    is_even = even >= (1 - _EVEN) * len(gaps)
    return is_even and inside >= _LEAST_SHARE * len(others) and len(texts) <= max(3, len(others) // 3)


def _paragraphs(lines: Sequence[Line]) -> Iterator[Block]:
    if not lines:
        return
    left = min(line.bbox.x0 for line in lines)
    pitch = median([below.bbox.y0 - above.bbox.y0 for above, below in pairwise(lines)] or [1.0])

    def is_cut(above: Line, below: Line) -> bool:
        is_apart = below.bbox.y0 - above.bbox.y0 > _PARAGRAPH * pitch
        is_first = below.bbox.x0 > left + _INDENT or _SPEAKER.match(below.text.lstrip()) is not None
        return is_apart or is_first or _is_set_apart(above, below)

    yield from cut_between(lines, is_cut)


def _is_set_apart(above: Line, below: Line) -> bool:
    return above.bold != below.bold or abs(above.size - below.size) > 1
