"""What sitemaps claim of their pages' last change, and how far a site's word may be taken.

A claim decides nothing but the order of requests; a site whose claims prove false loses its say.
Source: docs/crawling.md, the order.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from ingest.dates import utc_of
from ingest.plan.budgets import site_of
from schemas.documents import KnownDocument

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
