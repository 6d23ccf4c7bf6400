"""What a fetch makes of a document's state; docs/rules/recrawl.md draws the transitions."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ingest.diff.validators import after_answer
from schemas.documents import READABLE, DocumentState, KnownDocument
from schemas.fetch import FetchResult, FetchStatus
from schemas.nodes import Dated
from schemas.secrets import find_secrets
from schemas.source import GoneAfter

_CAME = (FetchStatus.OK, FetchStatus.NOT_MODIFIED)


def after_fetch(
    known: KnownDocument,
    result: FetchResult,
    *,
    raw_sha: str | None,
    run_id: str,
    now: datetime,
    gone_after: GoneAfter,
    conditional: bool,
) -> KnownDocument:
    """Return the ledger row after a fetch; *raw_sha* is the hash of the body, where there is one.

    *conditional* tells whether validators were sent. A timeout, an error or a refusal is never evidence
    that a document is gone. A redirect to an address that carries a secret is refused: the address would
    be kept. Source: docs/rules/recrawl.md.
    """
    if result.location is not None and find_secrets(result.location):
        why = "redirects to an address that carries a secret"
        result = replace(result, status=FetchStatus.REFUSED, location=None, reason=why)
    after = _after(known, result, raw_sha=raw_sha, run_id=run_id, now=now, gone_after=gone_after)
    return after_answer(known, after, conditional=conditional)


def _after(
    known: KnownDocument,
    result: FetchResult,
    *,
    raw_sha: str | None,
    run_id: str,
    now: datetime,
    gone_after: GoneAfter,
) -> KnownDocument:
    if known.state in READABLE or (known.state is DocumentState.QUARANTINED and result.status not in _CAME):
        known = replace(known, misses=0, missed_at=None)  # what was counted were no 404s
    seen = replace(
        known,
        run_id=run_id,
        checked_at=now.isoformat(),
        http_status=result.http_status,
        reason=result.reason,
        location=None,
        moves=0,
    )
    match result.status:
        case FetchStatus.NOT_MODIFIED if known.state is DocumentState.UNSUPPORTED:
            kept = replace(seen, reason=result.reason or known.reason, failures=0, misses=0, missed_at=None)
            return replace(kept, etag=result.etag or known.etag)
        case FetchStatus.OK:
            return _fetched(seen, result, raw_sha=raw_sha, now=now)
        case FetchStatus.NOT_MODIFIED:
            return _not_modified(seen, result)
        case FetchStatus.REDIRECTED:
            return _redirected(seen, result, before=known)
        case FetchStatus.NOT_FOUND:
            return _missed(seen, now=now, gone_after=gone_after, before=known)
        case FetchStatus.GONE:
            return replace(seen, state=DocumentState.GONE, failures=0, location=_moved_to(known))
        case FetchStatus.DISALLOWED:
            return replace(seen, state=DocumentState.DISALLOWED)
        case FetchStatus.UNSUPPORTED:
            return _unsupported(seen, result, now=now)
        case FetchStatus.REFUSED | FetchStatus.FAILED:
            return replace(seen, state=DocumentState.FAILED, failures=known.failures + 1)


def _fetched(
    seen: KnownDocument, result: FetchResult, *, raw_sha: str | None, now: datetime
) -> KnownDocument:
    told_otherwise = (seen.content_type, seen.x_robots_tag) != (result.content_type, result.x_robots_tag)
    # Headers decide too what is made of the bytes: their character set, or that they are not indexed.
    parsed_sha = None if told_otherwise else seen.parsed_sha
    modified = _date_of(seen, result, raw_sha=raw_sha)
    return replace(
        seen,
        state=DocumentState.FETCHED,
        parsed_sha=parsed_sha,
        raw_sha=raw_sha,
        etag=result.etag,
        last_modified=result.last_modified,
        fetched_modified=modified.at if modified else None,
        fetched_origin=modified.origin if modified else None,
        content_type=result.content_type,
        x_robots_tag=result.x_robots_tag,
        canonical=result.canonical or (seen.canonical if raw_sha == seen.raw_sha else None),
        fetched_at=now.isoformat(),
        failures=0 if parsed_sha == raw_sha else _unread(seen),
        **_holds(seen),
    )


def _date_of(seen: KnownDocument, result: FetchResult, *, raw_sha: str | None) -> Dated | None:
    """Return when the bytes were changed and who says so.

    Of equal bytes under an equal header what was made of it stays: one as young as the answer is not believed
    at first, and would be at the next look.
    """
    stated = result.last_modified is not None and result.last_modified == seen.last_modified
    if not stated or raw_sha is None or raw_sha != seen.raw_sha:
        return result.modified
    at, origin = seen.fetched_modified, seen.fetched_origin
    return Dated(at=at, origin=origin) if at is not None and origin is not None else None


def _not_modified(seen: KnownDocument, result: FetchResult) -> KnownDocument:
    """A 304 keeps content, links and structure, and may bring a new validator (RFC 9111, 4.3.4).

    A word to robots that it brings holds from now on; many servers leave headers out, so silence takes none
    back.
    """
    tag = result.x_robots_tag or seen.x_robots_tag
    return replace(
        seen,
        state=DocumentState.NOT_MODIFIED,
        etag=result.etag or seen.etag,
        x_robots_tag=tag,
        parsed_sha=seen.parsed_sha if tag == seen.x_robots_tag else None,
        failures=_unread(seen),
        **_holds(seen),
    )


def _holds(seen: KnownDocument) -> dict[str, Any]:
    """How often and since when its text was held, while it stays."""
    held = seen.state is DocumentState.QUARANTINED
    return {"misses": seen.misses if held else 0, "missed_at": seen.missed_at if held else None}


def _unread(before: KnownDocument) -> int:
    """Failures in a row to read the bytes; that more of them came makes none of them good."""
    failed = before.state is DocumentState.FAILED and before.parsed_sha != before.raw_sha
    return before.failures if failed else 0


def _unsupported(seen: KnownDocument, result: FetchResult, *, now: datetime) -> KnownDocument:
    """Keep the validators of what is no document, and the last good version's fragment without its bytes.

    With bytes a later 304 would seem to speak of them.
    """
    return replace(
        seen,
        state=DocumentState.UNSUPPORTED,
        raw_sha=None,
        etag=result.etag,
        last_modified=result.last_modified,
        content_type=result.content_type,
        fetched_at=now.isoformat(),
        failures=0,
        misses=0,
        missed_at=None,
    )


def _redirected(seen: KnownDocument, result: FetchResult, *, before: KnownDocument) -> KnownDocument:
    again = before.state is DocumentState.REDIRECTED and before.location == result.location
    return replace(
        seen,
        state=DocumentState.REDIRECTED,
        location=result.location,
        moves=(before.moves if again else 0) + 1 if result.permanent else 0,
        failures=0,
        misses=0,
        missed_at=None,
    )


def _moved_to(before: KnownDocument) -> str | None:
    """Where the content of a gone document was found, which another look at nothing does not change."""
    return before.location if before.state in (DocumentState.GONE, DocumentState.NEW) else None


def _missed(
    seen: KnownDocument, *, now: datetime, gone_after: GoneAfter, before: KnownDocument
) -> KnownDocument:
    """Count a 404; enough of them, far enough apart, make the document gone."""
    at = now.isoformat()
    first = min(seen.missed_at or at, at)  # a later time is of a clock that was wrong
    misses = seen.misses + 1
    waited = now - datetime.fromisoformat(first)
    confirmed = misses >= gone_after.misses and waited >= timedelta(hours=gone_after.hours)
    missed = replace(seen, misses=misses, missed_at=first, failures=0)
    if not confirmed:
        return replace(missed, state=DocumentState.MISSING)
    return replace(missed, state=DocumentState.GONE, location=_moved_to(before))


def take_missing(known: Iterable[KnownDocument], *, run_id: str) -> tuple[KnownDocument, ...]:
    """Return the documents that this run found missing as gone: somebody said that their 404 is meant."""
    missing = (d for d in known if d.state is DocumentState.MISSING and d.run_id == run_id)
    return tuple(replace(d, state=DocumentState.GONE) for d in missing)


def missing_until(known: Iterable[KnownDocument], gone_after: GoneAfter) -> datetime | None:
    """Say from when on another 404 makes all missing documents gone; None where none is missing."""
    waits = timedelta(hours=gone_after.hours)
    since = [d.missed_at for d in known if d.state is DocumentState.MISSING and d.missed_at]
    return max((datetime.fromisoformat(at) + waits for at in since), default=None)


TROUBLED = frozenset(
    {DocumentState.FAILED, DocumentState.MISSING, DocumentState.GONE, DocumentState.QUARANTINED}
)
"""States whose reasons are shown with them."""

TOLD_REASONS = 3


def summarise_states(documents: Iterable[KnownDocument]) -> str:
    """Count documents by state, and name the commonest reasons of those in trouble.

    `90 fetched, 8 not_modified, 2 failed (HTTP 500: 2)`; `nothing` where there are none.
    """
    found = list(documents)
    states = Counter(document.state for document in found)
    reasons = Counter(d.reason for d in found if d.state in TROUBLED and d.reason)
    text = ", ".join(f"{number} {state.value}" for state, number in states.most_common())
    why = "; ".join(f"{reason}: {number}" for reason, number in reasons.most_common(TOLD_REASONS))
    return (f"{text} ({why})" if why else text) or "nothing"
