"""When a document is looked at again, and how far sitemaps and validators are believed.

What a sitemap claims decides nothing but the order of requests; a site whose claims prove false
loses its say. Source: docs/crawling.md, the order.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from ingest.dates import utc_of
from ingest.plan.frontier import site_of
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


def is_look_due(known: KnownDocument, due_by: str | None) -> bool:
    """Whether a look is due by then; None: always. A look after it was by a clock that was wrong."""
    if due_by is None or known.next_due is None or known.next_due <= due_by:
        return True
    return (known.checked_at or "")[:19] > due_by[:19]


def wants_full_fetch(fetched_at: str | None, *, now: datetime, recrawl: Recrawl) -> bool:
    """Whether the content is old enough (`max_age`) that a 304 is no longer taken as an answer."""
    if fetched_at is None:
        return True
    return abs(now - datetime.fromisoformat(fetched_at)) > timedelta(seconds=recrawl.max_age)


MIN_JUDGED = 5
MIN_TRUE = 0.5
"""A site's word counts while at least half of what could be judged of it, and little could be, was true."""


def parse_lastmod(text: str | None, *, now: datetime) -> str | None:
    """Return a sitemap's or feed's date as ISO 8601 in UTC; None where it is none, or not yet come."""
    at = utc_of(text)
    return at if at is not None and datetime.fromisoformat(at) <= now.astimezone(UTC) else None


def with_claim(known: KnownDocument, claim: str | None) -> KnownDocument:
    """The row with what its sitemap claims now; the same row where that is not new."""
    return known if known.lastmod == claim else replace(known, lastmod=claim)


def judge_claim(now: str | None, then: str | None, held: bool | None, *, changed: bool) -> bool | None:
    """Say whether a site's last claim about a page was true, by what a look found; else *held* stays.

    Args: now: what is claimed; then: what was claimed at the look before; held: the verdict so far.
    Silence about a page that did not change is no evidence, or it would drown every lie.
    """
    if now is None or then is None:
        return held
    if now != then:
        return changed
    return False if changed else held


def distrusted_sites(known: Iterable[KnownDocument]) -> frozenset[str]:
    """Sites whose last claims, document by document, were mostly false."""
    verdicts: defaultdict[str, list[bool]] = defaultdict(list)
    for document in known:
        if document.lastmod_held is not None:
            verdicts[site_of(document.uri)].append(document.lastmod_held)
    return frozenset(
        site
        for site, held in verdicts.items()
        if len(held) >= MIN_JUDGED and sum(held) < MIN_TRUE * len(held)
    )


ONE_IN = 100
"""One document in so many is asked for without conditions in every run."""

LEAST = 5
"""So many at least of each site whose pages have no ETag, as far as it has so many."""


def plan_sample(held: Iterable[tuple[str, bool]], *, run_id: str) -> frozenset[str]:
    """Choose documents to ask for without conditions, by a hash of the run and the address.

    Args: held: addresses of documents with validators, and whether an ETag is among them.

    A date is compared by order, so a server that holds an older file calls it unmodified; an ETag is compared
    for equality and comes first, so of small sites that send one none is chosen (RFC 9110, 13.1.3, 13.2.2).
    """
    sites: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for uri, tagged in held:
        sites[site_of(uri), tagged].append(uri)
    return frozenset(
        uri
        for (_, tagged), uris in sites.items()
        for uri in sorted(uris, key=lambda uri: _draw(run_id, uri))[: _size(len(uris), tagged=tagged)]
    )


def _size(documents: int, *, tagged: bool) -> int:
    return documents // ONE_IN if tagged else max(LEAST, -(-documents // ONE_IN))


def _draw(run_id: str, uri: str) -> bytes:
    return hashlib.blake2b(f"{run_id} {uri}".encode(), digest_size=8).digest()
