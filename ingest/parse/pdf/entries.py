"""Definition lists of a PDF: which parts are terms, by how they are set, and what stands under each.

A term is set in a code font or bold, or beside its description, and the description is indented below it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.parse.numbering import is_numbering
from ingest.parse.pdf.joining import BULLETS, same_baseline
from ingest.parse.pdf.lines import Block, Line
from ingest.parse.pdf.order import box_of
from ingest.parse.pdf.structure import Part
from ingest.parse.terms import name_entry

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
    return line.bold and not text.endswith(_ENDS_SENTENCE) and not is_numbering(text)


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
