"""Running headers and footers: what returns in the outer strips of the pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ingest.parse.pdf.page import Line, PageContent

STRIP = 0.08
"""Share of the page height, at top and bottom, in which running headers and footers stand."""

LEAST_PAGES = 3
LEAST_SHARE = 0.3
"""A place on the page is a running one when it repeats itself on 3 pages and 30 % of one parity."""

_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?:page\s+)?[-\u2013\u2014\s]*(?:#|[ivxlc]{1,7})[-\u2013\u2014\s]*(?:(?:of|/)\s*#)?", re.IGNORECASE
)


class Margin(StrEnum):
    """Which strip a running line stands in."""

    HEADER = "header"
    FOOTER = "footer"


@dataclass(frozen=True, slots=True)
class _Place:
    """A strip, a height on the page (in steps of 3 pt from its edge) and a size of type."""

    margin: Margin
    step: int
    size: float


def find_marginals(pages: Sequence[PageContent]) -> dict[tuple[int, Line], Margin]:
    """Give the running lines, by page number and line.

    A place counts when enough pages hold there a text that returns (digits taken as equal) or a page
    number; then everything in that place is running, also the chapter title that stands on one page only.
    """
    candidates = [found for page in pages for found in _in_strips(page)]
    seen = {(page.page_no, place, key) for page, _, place, key in candidates}
    texts = Counter((place, key) for _, place, key in seen)
    evidence: dict[_Place, set[int]] = defaultdict(set)
    for page, _, place, key in candidates:
        if texts[place, key] >= LEAST_PAGES or _PAGE_NUMBER.fullmatch(key):
            evidence[place].add(page.page_no)
    running = {place for place, numbers in evidence.items() if _is_running(numbers, pages)}
    return {
        (page.page_no, line): place.margin
        for page, line, place, key in candidates
        if place in running or _is_own_number(page, key, line)
    }


def _in_strips(page: PageContent) -> Iterator[tuple[PageContent, Line, _Place, str]]:
    height = page.size.height
    for block in page.blocks:
        for line in block:
            key = _DIGITS.sub("#", " ".join(line.text.split()))
            if line.bbox.y1 <= height * STRIP:
                yield page, line, _Place(Margin.HEADER, round(line.bbox.y1 / 3), line.size), key
            elif line.bbox.y0 >= height * (1 - STRIP):
                step = round((height - line.bbox.y0) / 3)
                yield page, line, _Place(Margin.FOOTER, step, line.size), key


def _is_running(numbers: set[int], pages: Sequence[PageContent]) -> bool:
    if len(numbers) < LEAST_PAGES:
        return False
    for parity in (0, 1):
        total = sum(page.page_no % 2 == parity for page in pages)
        if total and sum(number % 2 == parity for number in numbers) >= LEAST_SHARE * total:
            return True
    return False


def _is_own_number(page: PageContent, key: str, line: Line) -> bool:
    if not _PAGE_NUMBER.fullmatch(key):
        return False
    return line.text.strip(" -\u2013\u2014") in {str(page.page_no), page.label}
