"""Whether a page still says what it said: how far its text has moved from its own past, whatever it says now.

What stands in for content in words that no rule knows, another page that is served in its place, and a text
that is garbled have one thing in common: next to nothing of the page is left. So has a page that was written
anew; it is held as well, and taken when it has said much the same for a while.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from schemas.documents import HistoryEntry, HistoryEvent, KnownDocument, LiveDocument
from schemas.fragment import GraphFragment
from schemas.nodes import Page, PageKind, Section

DRIFTED = "says something else than before"
"""Why a page is held that has moved too far from its own past."""

RUN = 3
"""Words of a run: single words are those of any page of its language, and longer runs fall with each edit."""

FEWEST_RUNS = 28
"""Runs of words, those of 30 words, that a page must have had to be judged by them."""

KEPT = 0.2
"""Part of its runs of words that a page keeps at the least; docs/quality.md has what it was set by."""

HEADINGS, LENGTH = 0.5, 0.5
"""Parts of its headings, with the first, and of its runs in number that a page keeps whose text is new under
the same headings: somebody wrote it anew."""

STUB_RUNS, GROWN = 150, 3
"""Runs of words of what may be a stub or a notice, and how many times as many content in its place has."""

SETTLED_LOOKS, SETTLED_DAYS = 3, 7
"""Looks that find the same text in the place of a good one, and days between the first and the last, after
which it is what the site means: longer than a maintenance or a deployment that went wrong over a weekend."""

# A sign of Chinese or Japanese is a word; what has a digit in it is a date, a price or a version.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")

Runs = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What a page keeps of its last good version: parts from 0 to 1, but for `length`, which may be more.

    `runs` of words, `headings` by their words, 0 where the first is another; `length` in runs of words, of
    which the page had `then`.
    """

    runs: float
    headings: float
    length: float
    then: int


def runs_of(text: str) -> Runs:
    """Every run of three words of a text, in lower case, numbers left out."""
    words = _WORD.findall(text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def measure_drift(now: GraphFragment, before: GraphFragment) -> Drift | None:
    """Measure what is left of a page; None where there was too little to tell by."""
    then = runs_of(before.text)
    if len(then) < FEWEST_RUNS:
        return None
    said, there = runs_of(now.text), _headings(now)
    headings = _headings(before)
    kept = sum(heading in there for heading in headings)
    is_same = bool(headings) and headings[:1] == there[:1]
    return Drift(
        runs=len(then & said) / len(then),
        headings=kept / len(headings) if is_same else 0.0,
        length=len(said) / len(then),
        then=len(then),
    )


def has_drifted(now: GraphFragment, before: GraphFragment) -> bool:
    """Whether a page says something else than its last good version.

    Lists of links and of changes say something else each time, and are as they should be while they are such.
    A stub may be filled, and a notice that was taken for content give way to it.
    """
    if _kind(before) is not PageKind.CONTENT and _kind(now) is _kind(before):
        return False
    drift = None if _is_mostly_there(now, before) else measure_drift(now, before)
    if drift is None or drift.runs >= KEPT:
        return False
    has_grown = drift.then <= STUB_RUNS and drift.length >= GROWN
    is_rewritten = drift.headings >= HEADINGS and drift.length >= LENGTH
    return not has_grown and not is_rewritten


def _is_mostly_there(now: GraphFragment, before: GraphFragment) -> bool:
    """Whether half of a text, by length, stands in passages that are as they were, as after most edits."""
    there = {chunk.content_hash for chunk in now.chunks}
    kept = sum(len(chunk.text) for chunk in before.chunks if chunk.content_hash in there)
    return 2 * kept >= len(before.text) > 0


def _headings(fragment: GraphFragment) -> list[str]:
    found = (node.heading for node in fragment.nodes if isinstance(node, Section) and node.heading)
    return [" ".join(heading.casefold().split()) for heading in found]


def _kind(fragment: GraphFragment) -> PageKind:
    return next((one.page_kind for one in fragment.nodes if isinstance(one, Page)), PageKind.CONTENT)


def is_read_anew(known: KnownDocument, old: LiveDocument, history: tuple[HistoryEntry, ...]) -> bool:
    """Whether what readers see was read from the very bytes that say something else now.

    Then the page is as it was, and the parser or the source file changed.
    """
    return any(
        entry.event is HistoryEvent.PARSED
        and entry.raw_sha == known.raw_sha
        and entry.content_hash == old.content_hash
        for entry in history
    )


def count_hold(known: KnownDocument) -> KnownDocument:
    """Count one more look that found the text which is held; with another, parsing begins to count anew."""
    return replace(known, misses=known.misses + 1, missed_at=known.missed_at or known.checked_at)


def has_settled(known: KnownDocument) -> bool:
    """Whether a held text, counted by `count_hold`, has been there for so long that it is meant."""
    if known.reason != DRIFTED or known.missed_at is None or known.checked_at is None:
        return False
    waited = datetime.fromisoformat(known.checked_at) - datetime.fromisoformat(known.missed_at)
    return known.misses >= SETTLED_LOOKS and waited >= timedelta(days=SETTLED_DAYS)
