"""When a document is looked at again."""

import hashlib
from datetime import datetime, timedelta

from schemas.documents import DocumentState, KnownDocument
from schemas.source import Recrawl

START_INTERVAL = 86400.0
"""Seconds until the second look at a document."""

GROWTH = 1.4
SHRINK = 0.8
"""Nutch's adaptive shape; rates above 0.4 make the interval swing (docs/rules/recrawl.md)."""

JITTER = 0.1

RETRY_START = 3600.0
"""Seconds until a failed document is tried again; each further failure in a row doubles them."""

_DOUBLINGS = 20


def next_interval(interval: float | None, *, changed: bool, recrawl: Recrawl) -> float:
    """Shorten the interval of a document that changed, lengthen that of one that did not; seconds."""
    factor = SHRINK if changed else GROWTH
    planned = START_INTERVAL if interval is None else interval * factor
    return min(max(planned, recrawl.min_interval), recrawl.max_interval)


def retry_wait(
    state: DocumentState, *, failures: int, interval: float | None, recrawl: Recrawl
) -> float | None:
    """Seconds until a document that gave no good answer is tried again; None where the interval says when.

    The interval itself stays as it is: what was unavailable says nothing about how often it changes. Waits
    never exceed it, so that trouble makes no document rarer. A 404 has `missing_due`.
    """
    longest = _longest_wait(interval, recrawl)
    match state:
        case DocumentState.FAILED:
            return min(RETRY_START * 2.0 ** min(max(failures, 1) - 1, _DOUBLINGS), longest)
        case DocumentState.QUARANTINED | DocumentState.DISALLOWED:
            return min(START_INTERVAL, longest)
    return None


def next_due(uri: str, *, checked_at: datetime, interval: float) -> datetime:
    """Return the next time to look; spread by up to a tenth, by a hash of the URI, so that no crowd forms."""
    spread = int.from_bytes(hashlib.blake2b(uri.encode(), digest_size=4).digest()) / 0xFFFFFFFF
    return checked_at + timedelta(seconds=interval * (1 + JITTER * (2 * spread - 1)))


def missing_due(
    uri: str, *, missed_at: datetime, checked_at: datetime, interval: float | None, recrawl: Recrawl
) -> datetime:
    """Return the next time to look at a document that answered 404: as soon as that may be confirmed.

    The hours count from the first 404, so that looks in between put nothing off, and are not spread: a look
    before they are over confirms nothing, and the first looks are as far apart as requests to a host. Where
    the interval is shorter, it says when to look in between: the page may be back.
    """
    waits, longest = timedelta(hours=recrawl.gone_after.hours), _longest_wait(interval, recrawl)
    confirmed = _rounded_up(max(missed_at + waits, checked_at + timedelta(seconds=recrawl.min_interval)))
    if longest < waits.total_seconds():
        return min(confirmed, next_due(uri, checked_at=checked_at, interval=longest))
    return confirmed


def _rounded_up(at: datetime) -> datetime:
    """The ledger keeps whole seconds, and a part of one would make a look too early."""
    return (at + timedelta(seconds=1) - timedelta.resolution).replace(microsecond=0)


def _longest_wait(interval: float | None, recrawl: Recrawl) -> float:
    return max(START_INTERVAL if interval is None else interval, recrawl.min_interval)


def is_due(known: KnownDocument, due_by: str | None) -> bool:
    """Whether a look is due by then; None: always. A look after it was by a clock that was wrong."""
    if due_by is None or known.next_due is None or known.next_due <= due_by:
        return True
    return (known.checked_at or "")[:19] > due_by[:19]


def wants_full_fetch(fetched_at: str | None, *, now: datetime, recrawl: Recrawl) -> bool:
    """Whether the content is old enough (`max_age`) that a 304 is no longer taken as an answer."""
    if fetched_at is None:
        return True
    return abs(now - datetime.fromisoformat(fetched_at)) > timedelta(seconds=recrawl.max_age)
