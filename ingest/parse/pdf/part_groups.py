"""Parts that make one region: definition lists, displayed formulas, texts that stand together.

A term is set in a code font or bold, or beside its description, and the description is indented below it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from ingest.parse.pdf.joining import BULLETS
from ingest.parse.pdf.lines import Block, Line, same_baseline
from ingest.parse.pdf.opening import around, holds_point, share_height
from ingest.parse.pdf.order import box_of
from ingest.parse.pdf.pictures import REACH
from ingest.parse.pdf.structure import Part
from ingest.parse.wording import is_bare_number, name_entry
from schemas.nodes import BBox

INDENT = 12.0
"""Points that a description stands further right than its term; manuals have 14 (a list) to 58."""

_SAME = 3.0
"""Points by which equal margins may differ."""

_MOST_LINES = 3
_MOST_SIGNS = 90
_ENDS_SENTENCE = tuple(".,;:!?")
_MARK = re.compile(rf"[{BULLETS}*–—·]|\W?\w{{1,3}}[.)\]]")


@dataclass(frozen=True, slots=True, eq=False)
class PdfEntry:
    """An entry: what its terms name, and the left edge of these."""

    name: str
    left: float


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """The entries that a part stands in, outermost first.

    `bare`: a term that is described on the next page; `follows`: what stands right under a term.
    """

    entries: tuple[PdfEntry, ...] = ()
    bare: bool = False
    follows: bool = False


def part_at_terms(parts: Sequence[Part]) -> Iterator[Part]:
    """Cut the blocks that hold several entries before the term of each."""
    for part in parts:
        cuts = _cuts(part.lines) if _is_text(part) else []
        for start, end in zip([0, *cuts], [*cuts, len(part.lines)], strict=True):
            lines = part.lines[start:end]
            yield replace(part, lines=lines, bbox=box_of(lines)) if cuts else part


def place_in_entries(parts: Sequence[Part]) -> tuple[EntryPlace, ...]:
    """Say of each part which entries it stands in; an entry goes on over pages, and ends at a heading."""
    places: list[EntryPlace] = []
    open_: list[PdfEntry] = []
    last: Part | None = None
    under: Part | None = None
    for index, part in enumerate(parts):
        if part.margin is not None or part.picture is not None:
            places.append(EntryPlace())
            continue
        if part.heading is not None or (last is not None and last.column != part.column):
            open_ = []
        described = _described(parts, index) if _is_text(part) else None
        while open_ and part.bbox.x0 <= open_[-1].left + _SAME:
            # Terms of one definition follow each other; the description of the first is that of all.
            open_.pop()
        if described is not None:
            open_.append(PdfEntry(name_entry(_terms(part.lines)), part.bbox.x0))
        bare = described is not None and described.page_no != part.page_no
        places.append(EntryPlace(tuple(open_), bare=bare, follows=under is part))
        last, under = part, described
    return tuple(places)


def _is_text(part: Part) -> bool:
    plain = part.heading is None and part.margin is None and part.table is None and part.picture is None
    return plain and bool(part.lines) and not part.contents


def _described(parts: Sequence[Part], index: int) -> Part | None:
    """The part that describes what part *index* is a term of: itself, where both stand side by side."""
    part = parts[index]
    if _has_term_beside(part.lines):
        return part
    if not _is_term(part.lines):
        return None
    for after in parts[index + 1 :]:
        if after.margin is not None or after.picture is not None:
            continue
        if not _is_text(after) or after.column != part.column:
            return None
        is_below = after.page_no > part.page_no or after.bbox.y0 > part.bbox.y0
        is_inside = is_below and after.bbox.x0 >= part.bbox.x0 + INDENT
        return after if is_inside and _describes(after.lines, part.lines) else None
    return None


def _is_term(lines: Block) -> bool:
    signs = sum(len(line.text.strip()) for line in lines)
    aligned = all(abs(line.bbox.x0 - lines[0].bbox.x0) <= _SAME for line in lines)
    if len(lines) > _MOST_LINES or signs > _MOST_SIGNS * len(lines) or not aligned:
        return False
    return all(_is_set_apart(line) for line in lines)


def _is_set_apart(line: Line) -> bool:
    text = line.text.strip()
    if line.mono:
        return True
    return line.bold and not text.endswith(_ENDS_SENTENCE) and not is_bare_number(text)


def _describes(lines: Block, term: Block) -> bool:
    """Whether lines are prose, or begin with the synopsis of the term; a listing describes nothing."""
    name = term[0].text.split()[0] if term[0].text.split() else ""
    return not all(line.mono for line in lines) or (bool(name) and lines[0].text.split()[0] == name)


def _has_term_beside(lines: Block) -> bool:
    """Whether the first line is a term on the left, and the rest is what stands beside it."""
    if len(lines) < 2 or not _is_beside(lines[0], lines[1]):
        return False
    return all(line.bbox.x0 >= lines[0].bbox.x0 + INDENT for line in lines[1:])


def _is_beside(term: Line, said: Line) -> bool:
    text = term.text.strip()
    if not same_baseline(term, said) or said.bbox.x0 < term.bbox.x0 + INDENT or said.mono:
        return False
    return (term.mono or term.bold) and not _MARK.fullmatch(text) and len(text) <= _MOST_SIGNS


def _cuts(lines: Block) -> list[int]:
    """Where in a block, but at its beginning, a term stands at its left edge with its description behind."""
    left = min(line.bbox.x0 for line in lines)
    return [
        index
        for index in range(1, len(lines) - 1)
        if lines[index].bbox.x0 <= left + _SAME
        and not same_baseline(lines[index - 1], lines[index])
        and lines[index + 1].bbox.x0 >= left + INDENT
        and (_is_beside(lines[index], lines[index + 1]) or _is_above(lines[index], lines[index + 1]))
    ]


def _is_above(term: Line, said: Line) -> bool:
    return _is_set_apart(term) and not said.mono and not same_baseline(term, said)


def _terms(lines: Block) -> list[str]:
    if _has_term_beside(lines):
        return [lines[0].text]
    return [line.text for line in lines]


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
    re.findall(r"\w+", "sinh cosh tanh arcsin arccos arctan argmax argmin rank diag sign otherwise")
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


Group = tuple[int, ...]
"""Positions in a sequence of boxes, in order."""

_MOST_BETWEEN = 200
"""Lines at the heights of two texts that are looked through for one between them; so many leave no room."""

_MOST_BEFORE = 200
"""Stretches before one, in the file, that are looked through for the labels beside it."""

_SLACK = 1.0
"""Points that the middle of a line may lie outside its own box, after rounding."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The middles (y, x) of all lines of a page, from its top."""

    middles: tuple[tuple[float, float], ...]

    def stands_between(self, one: BBox, other: BBox) -> bool:
        """Whether the smallest box around two holds a line that is in neither."""
        both = one.union(other)
        start = bisect_left(self.middles, (both.y0, -inf))
        end = bisect_right(self.middles, (both.y1, inf))
        return end - start > _MOST_BETWEEN or any(
            both.x0 <= x <= both.x1
            and not holds_point(one, x, y, slack=_SLACK)
            and not holds_point(other, x, y, slack=_SLACK)
            for y, x in self.middles[start:end]
        )


def page_text(lines: Iterable[BBox]) -> PageText:
    """Return the text of a page by the boxes of its lines."""
    return PageText(tuple(sorted(((box.y0 + box.y1) / 2, (box.x0 + box.x1) / 2) for box in lines)))


def part_by_place(boxes: Sequence[BBox], labels: Sequence[bool], text: PageText) -> tuple[Group, ...]:
    """Part texts that follow each other so that no box around a part reaches over other text.

    A text goes on with the next unless another stands between the two. What then consists of short *labels*
    belongs together where it stands close, in whatever order a drawing stores its words. Parts come in the
    order of their first texts.
    """
    rows = list(_rows(boxes, text))
    stretches = list(_stretches(rows, boxes, text))
    areas = [_around(stretch, boxes) for stretch in stretches]
    scattered = [all(labels[at] for at in stretch) for stretch in stretches]
    groups: dict[int, list[int]] = {}
    for stretch, leader in zip(stretches, _leaders(areas, scattered), strict=True):
        groups.setdefault(leader, []).extend(stretch)
    return tuple(map(tuple, groups.values()))


def _rows(boxes: Sequence[BBox], text: PageText) -> Iterator[list[int]]:
    """Put together what stands side by side: below the end of a row comes the next, beside longer cells."""
    row: list[int] = []
    for at, box in enumerate(boxes):
        area = _around(row, boxes) if row else box
        # Half of the height is enough: leading may be so tight that lines overlap.
        if row and (not share_height(area, box, least=0.5) or text.stands_between(area, box)):
            yield row
            row = []
        row.append(at)
    if row:
        yield row


def _stretches(rows: Sequence[list[int]], boxes: Sequence[BBox], text: PageText) -> Iterator[list[int]]:
    areas = [_around(row, boxes) for row in rows]
    stretch: list[int] = []
    for at, row in enumerate(rows):
        if at and text.stands_between(areas[at - 1], areas[at]):
            yield stretch
            stretch = []
        stretch.extend(row)
    if stretch:
        yield stretch


def _around(places: Sequence[int], boxes: Sequence[BBox]) -> BBox:
    return around(boxes[at] for at in places)


def _leaders(areas: Sequence[BBox], scattered: Sequence[bool]) -> list[int]:
    """Name the group of each area by the first in it; running text is alone, and parts what is around it."""
    leaders = list(range(len(areas)))
    first = 0
    for at, area in enumerate(areas):
        if not scattered[at]:
            first = at + 1
            continue
        for before in range(max(first, at - _MOST_BEFORE), at):
            if _distance(areas[before], area) <= REACH:
                one, other = sorted((_leader(leaders, before), _leader(leaders, at)))
                leaders[other] = one
    return [_leader(leaders, at) for at in range(len(areas))]


def _leader(leaders: list[int], at: int) -> int:
    while leaders[at] != at:
        leaders[at] = leaders[leaders[at]]
        at = leaders[at]
    return at


def _distance(one: BBox, other: BBox) -> float:
    """The larger of two gaps: that beside and that above or below."""
    return max(one.x0 - other.x1, other.x0 - one.x1, one.y0 - other.y1, other.y0 - one.y1, 0.0)
