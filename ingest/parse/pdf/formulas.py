"""Which blocks of a page are a displayed formula; MuPDF cuts one into a block a fraction, sum and index."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.parse.pdf.lines import Block
from ingest.parse.pdf.order import box_of
from ingest.parse.pdf.structure import Part

_MOST_LENGTH = 400
_LEAST_LENGTH = 3
_LEAST_SHARE = 0.15
"""Signs of a formula, and the share of them that must speak of mathematics where it has no number."""

_MOST_PIECES = 60
"""Blocks that one formula is cut into, at most."""

_GAP = 1.0
"""Sizes of type between two rows of one formula, at most."""

_OVERLAP = 3.0
"""Points that a formula may reach into the lines of the text above or below."""

_RELATION = re.compile(r"[=<>\u2190-\u21ff\u2208-\u220d\u221d\u223c-\u22ff]")
_ITEM = re.compile(r"\s*\d{1,3}[.)]\s")
_NUMBER = re.compile(r"\([A-Z]?\d{1,3}(?:[.\u2013-]\d{1,3})*[a-z]?\)")
_WORD = re.compile(
    r"(?<!\S)[(\"'“‘]*([A-Z]?[^\W\d_A-Z]{4,}|[A-Z][^\W\d_A-Z]{3,}|[A-Z]{4,})[.,;:)!?\"'”’-]*(?!\S)"
)
_NAMES = frozenset(
    (
        "sinh",
        "cosh",
        "tanh",
        "arcsin",
        "arccos",
        "arctan",
        "argmax",
        "argmin",
        "rank",
        "diag",
        "sign",
        "otherwise",
    )
)
"""A word of text has four letters and stands alone, unlike the names in "f(guxi)"; some are of formulas."""


def join_formulas(parts: Sequence[Part]) -> Iterator[Part]:
    """Make one part, marked as a formula, of the parts that are one; the others stay as they are.

    Careful rather than greedy: no words and no number of an item, a relation, mathematical letters or fonts
    or a number in brackets to the right, and no text beside it.
    """
    at = 0
    while at < len(parts):
        end = _end_of_group(parts, at)
        group = parts[at:end]
        if group and _is_displayed(parts, at, end):
            lines = tuple(line for part in group for line in part.lines)
            yield replace(group[0], lines=lines, bbox=box_of(lines), formula=True)
            at = end
        else:
            end = max(end, at + 1)
            yield from parts[at:end]
            at = end


def _end_of_group(parts: Sequence[Part], start: int) -> int:
    end = start
    while (
        end < min(len(parts), start + _MOST_PIECES)
        and _is_wordless(parts[end])
        and (end == start or _follows(parts[start:end], parts[end]))
    ):
        end += 1
    return end


def _is_wordless(part: Part) -> bool:
    if part.heading or part.table or part.picture or part.margin or part.contents or not part.lines:
        return False
    text = " ".join(line.text for line in part.lines)
    usual = all(line.upright and not line.mono for line in part.lines)
    if _ITEM.match(text):
        return False
    return usual and len(text) <= _MOST_LENGTH and not set(_WORD.findall(text)) - _NAMES


def _follows(group: Sequence[Part], part: Part) -> bool:
    first = group[0]
    if (part.page_no, part.column, part.heading_path) != (first.page_no, first.column, first.heading_path):
        return False
    reach = _GAP * max(line.size for line in part.lines)
    return any(
        part.bbox.y0 <= other.bbox.y1 + reach and other.bbox.y0 <= part.bbox.y1 + reach for other in group
    )


def _is_displayed(parts: Sequence[Part], start: int, end: int) -> bool:
    lines = tuple(line for part in parts[start:end] for line in part.lines)
    beside = (*parts[max(start - 1, 0) : start], *parts[end : end + 1])
    return _is_formula(lines) and not any(_reaches_into(lines, part) for part in beside)


def _is_formula(lines: Block) -> bool:
    text = "".join(line.text for line in lines)
    length = len("".join(text.split()))
    math = sum(line.math for line in lines)
    if length < _LEAST_LENGTH or not _RELATION.search(text):
        return False
    return _is_numbered(lines) or math >= max(2, _LEAST_SHARE * length)


def _is_numbered(lines: Block) -> bool:
    numbers = [line for line in lines if _NUMBER.fullmatch(line.text.strip())]
    others = [line for line in lines if line not in numbers]
    return bool(others) and any(
        number.bbox.x0 >= max(line.bbox.x1 for line in others) and number.bbox.x0 > others[0].bbox.x0
        for number in numbers
    )


def _reaches_into(lines: Block, part: Part) -> bool:
    """Whether *lines* stand beside a part's: then they are the end of a line of its text."""
    if part.margin or part.table or part.picture or not part.lines:
        return False
    box = box_of(lines)
    shared = min(box.y1, part.bbox.y1) - max(box.y0, part.bbox.y0)
    return shared > _OVERLAP
