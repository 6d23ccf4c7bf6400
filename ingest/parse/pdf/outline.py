"""The bookmarks of a PDF, and how their titles compare with printed lines."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ingest.parse.pdf.opening import pdf_errors

MAX_ENTRIES = 20_000
"""Bookmarks kept; a document with more has a machine-made or looping outline."""

_NAMED, _GOTO = 4, 1
_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = rf"(?:twenty|thirty|forty|fifty)[- ]?(?:{_UNITS})?"
_ORDINALS = rf"(?:{_TENS}|{_TEENS}|{_UNITS}|[0-9]{{1,3}}|[ivxlc]{{1,7}}|[a-z])"
_DIVISION = r"(?:chapter|appendix|part|section|annex)"
_NUMBERING = re.compile(
    rf"^(?:{_DIVISION}\s+{_ORDINALS}(?:\.\d+)*(?:[.:\u2014-]\s*|\s+|$)"
    r"|(?:\d+|[a-z])(?:\.\d+)+\.?(?:\s+|$)|\d{1,2}\.?(?:\s+|$))",
    re.IGNORECASE,
)
_BARE_NUMBERING = re.compile(rf"(?:{_DIVISION}|(?:{_DIVISION}\s+)?{_ORDINALS}|[A-Z]?[\d.]+)", re.IGNORECASE)
_NOT_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A bookmark: title without numbering, level from 1, page from 1, `y` in points from the top."""

    title: str
    level: int
    page_no: int
    y: float | None = None


def read_outline(document: Any) -> tuple[Entry, ...]:
    """Give the bookmarks that lead to a page, in their order; none where the outline is broken."""
    try:
        rows = document.get_toc(simple=False)[:MAX_ENTRIES]
        heights = _Heights(document)
        return tuple(_entries(rows, heights))
    except pdf_errors():
        return ()


def strip_numbering(title: str) -> str:
    """Drop "Chapter 3." or "3.2 " before a title, unless nothing else would be left.

    HTML twins of the same manual number their headings otherwise, or not at all; the HTML parser drops the
    same numbers, so that twins share their heading paths.
    """
    flat = " ".join(title.split())
    return _NUMBERING.sub("", flat, count=1).strip() or flat


def is_numbering(text: str) -> bool:
    """Whether *text* is nothing but a number as headings carry it: "CHAPTER", "ONE", "3.1.11"."""
    return bool(_BARE_NUMBERING.fullmatch(text.strip().rstrip(".:")))


def title_key(text: str) -> str:
    """Give *text* as titles are compared: letters and digits only, case folded, ligatures undone."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", text)).casefold()


class _Heights:
    """Page heights at rotation 0, each looked up once."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._known: dict[int, float] = {}

    def of(self, index: int) -> float:
        if index not in self._known:
            self._known[index] = float(self._document.page_cropbox(index).height)
        return self._known[index]


def _entries(rows: list[Any], heights: _Heights) -> Iterator[Entry]:
    for level, title, page_no, destination in rows:
        text = strip_numbering(title)
        if page_no >= 1 and text:
            y = _top(destination, page_no - 1, heights)
            yield Entry(title=text, level=level, page_no=page_no, y=y)


def _top(destination: dict[str, Any], index: int, heights: _Heights) -> float | None:
    """Named destinations count from the bottom of the page, direct ones from the top; (0, 0) is no place."""
    to = destination.get("to")
    if to is None or (to.x == 0 and to.y == 0):
        return None
    if destination.get("kind") == _NAMED:
        return heights.of(index) - float(to.y)
    return float(to.y) if destination.get("kind") == _GOTO else None
