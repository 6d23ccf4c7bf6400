"""Clocks and counters in a text: told from content by two looks at the page, seconds apart.

What a page says of how long ago something was is as old as the look itself, and needs no second one.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from schemas.fragment import GraphFragment
from schemas.nodes import Section

FEW = 4
"""Words that may differ in a text of any length; in a long one, one in twenty: more are its content."""

_UNIT = (
    r"(?:s|m|h|d|w|mo|y|(?:sec|sek|сек|min|мин|h(?:ou)?r|heure|hora|stund|ora|ore|uur|uren|час|day|tage?|jour"
    r"|d[ií]a|giorn|dag|дн|день|week|woche|woch|semain|seman|settiman|недел|month|monat|mois|mes|m[eê]s|maand"
    r"|месяц|year|jahr|ans?\b|année|año|ano|ann|jaar|год|лет)\w*)"
)
_COUNT = r"(?:\d[\d.,]*|an?|one|ein\w*|une?|una?|um|uma|few|a few|several)"
_SPAN = rf"{_COUNT}\s*{_UNIT}(?:\s*(?:,|and|und|et|y|e)?\s*\d+\s*{_UNIT})*"
_AGO = re.compile(
    rf"\b{_SPAN}\s+(?:ago|fa|geleden|назад|temu|atrás|sedan|siden)\b|\b(?:vor|il y a|hace|há)\s+{_SPAN}\b"
    r"|\b(?:just now|moments ago|a moment ago|gerade eben|à l['’]instant)\b"
    r"|\d+\s*(?:秒|分钟?|分鐘|小?時間?|小时|日|天|週間?|周|か月|个月|年)(?:前|以前|之前)",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"(?<=\d)[\u00a0\u202f\u2009 ](?=\d{3}\b)")
_WORD = re.compile(r"\S+")
_NUMBERS = re.compile(r"\d[\d.,:]*")
_ID = re.compile(r"\W*(?=[\w+/=.:-]*\d|[0-9a-f-]{8,}\W*\Z)[\w+/=.:-]{8,}\W*", re.IGNORECASE)
_TIME = re.compile(r"\d:\d\d(?!\d)|\b1\d{9}(?:\d{3})?\b")

CLOCK_SECONDS = 1.1
"""After which a clock that shows seconds has moved."""

_Told = tuple[str, ...]
"""The words of a page in reading order, without how long ago anything was."""


def is_unchanged(before: GraphFragment, looks: Sequence[GraphFragment]) -> bool:
    """Whether a page says what it did *before*: all that differs now differs between *looks* at it, too."""
    told = [_told_by(look) for look in looks]
    changed = _changed(before, looks[0])
    moving = [_differing(one, other) for one, other in pairwise(told)]
    if changed is None or None in moving:
        return False
    return changed <= frozenset().union(*(places for places in moving if places))


def looks_wanted(before: GraphFragment, now: GraphFragment) -> tuple[float, ...]:
    """Seconds to wait before each further look that may tell whether a page changed."""
    changed, told = _changed(before, now), _told_by(now)
    if not changed:
        return ()
    return (0.0, CLOCK_SECONDS) if any(_TIME.search(told[place]) for place in changed) else (0.0,)


def _changed(before: GraphFragment, now: GraphFragment) -> frozenset[int] | None:
    same_around = _around(before) == _around(now)
    return _differing(_told_by(before), _told_by(now)) if same_around else None


def _around(page: GraphFragment) -> tuple[object, ...]:
    """What a page states beside its words, and where it leads."""
    links = [(link.target, link.fragment, link.position) for link in page.links]
    stated = (page.kind, page.noindex, page.nofollow, page.refresh, page.canonical, page.doc_id, page.access)
    return (*stated, links, page.alternates, page.references, *_shape(page))


def _shape(page: GraphFragment) -> tuple[object, ...]:
    """How its words stand: levels and anchors of headings, indents and lines, of which code is made."""
    sections = [node for node in page.nodes if isinstance(node, Section)]
    passages = [(chunk.fragment, chunk.fragments, chunk.code_languages) for chunk in page.chunks]
    spaces = [_WORD.sub("", _masked(section.text)) for section in sections]
    return [(one.level, one.fragment) for one in sections], passages, spaces


def _told_by(fragment: GraphFragment) -> _Told:
    headings = (node.heading for node in fragment.nodes if isinstance(node, Section))
    return tuple(_masked("\n".join((fragment.title, *headings, fragment.text))).split())


def _masked(text: str) -> str:
    return _AGO.sub("\N{HOURGLASS}", _GROUPED.sub("", text))


def _differing(one: _Told, other: _Told) -> frozenset[int] | None:
    """Return where two looks at a page differ; None where they do in more than numbers, times and ids."""
    if len(one) != len(other):
        return None
    places = frozenset(place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    alike = all(_is_of_one_kind(one[place], other[place]) for place in places)
    return places if alike and len(places) <= max(FEW, len(one) // 20) else None


def _is_of_one_kind(one: str, other: str) -> bool:
    """Whether both are ids, or the same but for numbers in it."""
    if _ID.fullmatch(one) and _ID.fullmatch(other):
        return True
    return _NUMBERS.sub("#", one) == _NUMBERS.sub("#", other)
