"""When a document is looked at again."""

import hashlib
from datetime import datetime, timedelta

from schemas.source import Recrawl

START_INTERVAL = 86400.0
"""Seconds until the second look at a document."""

GROWTH = 1.4
SHRINK = 0.8
"""Nutch's adaptive shape; rates above 0.4 make the interval swing (design 6)."""

JITTER = 0.1


def next_interval(interval: float | None, *, changed: bool, recrawl: Recrawl) -> float:
    """Shorten the interval of a document that changed, lengthen that of one that did not; seconds."""
    factor = SHRINK if changed else GROWTH
    planned = START_INTERVAL if interval is None else interval * factor
    return min(max(planned, recrawl.min_interval), recrawl.max_interval)


def next_due(uri: str, *, checked_at: datetime, interval: float) -> datetime:
    """Give the next time to look; spread by up to a tenth, by a hash of the URI, so that no crowd forms."""
    spread = int.from_bytes(hashlib.blake2b(uri.encode(), digest_size=4).digest()) / 0xFFFFFFFF
    return checked_at + timedelta(seconds=interval * (1 + JITTER * (2 * spread - 1)))


def wants_full_fetch(fetched_at: str | None, *, now: datetime, recrawl: Recrawl) -> bool:
    """Whether the content is old enough (`max_age`) that a 304 is no longer taken as an answer."""
    if fetched_at is None:
        return True
    return now - datetime.fromisoformat(fetched_at) > timedelta(seconds=recrawl.max_age)
