"""Running headers and footers: what returns in the outer strips of the pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ingest.parse.pdf.lines import Line
from ingest.parse.pdf.page import PageContent

STRIP = 0.08
"""Share of the page height, at top and bottom, in which running headers and footers stand."""

LEAST_PAGES = 3
LEAST_SHARE = 0.3
"""What runs returns on 3 pages, and on 30 % of the left or of the right pages."""

_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-\u2013\u2014\s]*(?:#|[ivxlc]{1,7})[-\u2013\u2014\s]*(?:(?:of|/)\s*#)?", re.IGNORECASE
)

_HUGE = 36.0
"""Points of type across a page, as "DRAFT" is set."""

_MOST_DIGITS = 4
"""Digits of a page number, at most."""


class Margin(StrEnum):
    """Which strip a running line stands in."""

    HEADER = "header"
    FOOTER = "footer"


@dataclass(frozen=True, slots=True)
class _Place:
    """A strip, a distance from its edge of the page (in steps of 3 pt) and a size of type."""

    margin: Margin
    step: int
    size: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line in a strip; `key` is its text with digits taken as equal, `alone`: so is its block."""

    page: PageContent
    line: Line
    place: _Place
    key: str
    alone: bool


def find_marginals(pages: Sequence[PageContent]) -> dict[tuple[int, Line], Margin]:
    """Return the running lines, by page number and line.

    A line runs when its text returns often enough in its place. A place runs when enough pages hold there
    a returning text or a page number; then all blocks in it run, also the title of a one-page chapter.
    """
    candidates = [found for page in pages for found in _in_strips(page)]
    seen: dict[tuple[_Place, str], set[int]] = defaultdict(set)
    for one in candidates:
        seen[one.place, one.key].add(one.page.page_no)
    evidence: dict[_Place, set[int]] = defaultdict(set)
    for one in candidates:
        returns = len(seen[one.place, one.key]) >= LEAST_PAGES and any(map(str.isalnum, one.key))
        if one.alone and (returns or _PAGE_NUMBER.fullmatch(one.key)):
            evidence[one.place].add(one.page.page_no)
    texts = {text for text, numbers in seen.items() if len(text[1]) > 2 and _runs(numbers, pages)}
    places = {place for place, numbers in evidence.items() if _runs(numbers, pages)}
    running = {
        (one.page.page_no, one.line): one.place.margin
        for one in candidates
        if (one.place, one.key) in texts or (one.alone and (one.place in places or _is_own_number(one)))
    }
    return {**running, **_numbers_at_the_end(pages), **_watermarks(pages)}


def _watermarks(pages: Sequence[PageContent]) -> dict[tuple[int, Line], Margin]:
    """Return what stands askew, or is huge, in one place of many pages; on the first of them it is read."""
    seen: dict[tuple[str, int, int], list[tuple[int, Line]]] = defaultdict(list)
    for page in pages:
        for line in (line for block in page.blocks for line in block):
            if not line.upright or line.size >= _HUGE:
                key = " ".join(line.text.split()), round(line.bbox.x0 / 6), round(line.bbox.y0 / 6)
                seen[key].append((page.page_no, line))
    marks = (found[1:] for found in seen.values() if _runs({page_no for page_no, _ in found}, pages))
    return {mark: Margin.FOOTER for found in marks for mark in found}


def _numbers_at_the_end(pages: Sequence[PageContent]) -> dict[tuple[int, Line], Margin]:
    """Return the page numbers that end their page: in the strip, or where they count on, anywhere.

    They count on where as many pages as make a line run print a number that is as far from their own. In the
    strip one more page is enough, or the page's own number: a lone number may be a value that ends a text.
    """
    ends = [(page, *end) for page in pages if (end := _number_at_the_end(page)) is not None]
    ahead = Counter(number - page.page_no for page, _, number in ends)
    return {
        (page.page_no, line): Margin.FOOTER
        for page, line, number in ends
        if (count := ahead[number - page.page_no]) >= LEAST_PAGES
        or (line.bbox.y0 >= page.size.height * (1 - STRIP) and (count > 1 or number == page.page_no))
    }


def _number_at_the_end(page: PageContent) -> tuple[Line, int] | None:
    """Return the number that stands alone below all else on a page, and its value."""
    lines = [line for block in page.blocks for line in block]
    last = max(lines, key=lambda line: line.bbox.y0, default=None)
    if last is None or len(lines) == 1 or (last,) not in page.blocks:
        return None
    middle = (last.bbox.y0 + last.bbox.y1) / 2
    printed = _DIGITS.search(last.text)
    is_number = _PAGE_NUMBER.fullmatch(_DIGITS.sub("#", " ".join(last.text.split())))
    if printed is None or is_number is None or len(printed.group()) > _MOST_DIGITS:
        return None
    is_last = all(line is last or line.bbox.y1 <= middle for line in lines)
    return (last, int(printed.group())) if is_last else None


def _in_strips(page: PageContent) -> Iterator[_Candidate]:
    top, bottom = page.size.height * STRIP, page.size.height * (1 - STRIP)
    for block in page.blocks:
        alone = all(line.bbox.y1 <= top for line in block) or all(line.bbox.y0 >= bottom for line in block)
        for line in block:
            place = _place(line, page.size.height, top, bottom)
            if place is not None:
                key = _DIGITS.sub("#", " ".join(line.text.split()))
                yield _Candidate(page, line, place, key, alone)


def _place(line: Line, height: float, top: float, bottom: float) -> _Place | None:
    if line.bbox.y1 <= top:
        return _Place(Margin.HEADER, round(line.bbox.y1 / 3), line.size)
    if line.bbox.y0 >= bottom:
        return _Place(Margin.FOOTER, round((height - line.bbox.y0) / 3), line.size)
    return None


def _runs(numbers: set[int], pages: Sequence[PageContent]) -> bool:
    if len(numbers) < LEAST_PAGES:
        return False
    for parity in (0, 1):
        total = sum(page.page_no % 2 == parity for page in pages)
        if total and sum(number % 2 == parity for number in numbers) >= LEAST_SHARE * total:
            return True
    return False


def _is_own_number(one: _Candidate) -> bool:
    printed = one.line.text.strip(" -\u2013\u2014")
    return bool(_PAGE_NUMBER.fullmatch(one.key)) and printed in {str(one.page.page_no), one.page.label}
