"""When a run stops rather than publish: a site's bad day must not empty the index."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from ingest.diff.drift import DRIFTED
from ingest.urls import is_tools_url
from schemas.advice import ADVICE, Trouble, trouble_of
from schemas.changes import ChangeKind, Counts, DocumentChange
from schemas.documents import READABLE, REMOVED, DocumentState, KnownDocument
from schemas.nodes import Chunk, Node, Page, PageKind
from schemas.redaction import one_line
from schemas.source import MaxFailures

MAX_REMOVED = 0.2
"""Largest part of a source that one run may take out without being told to (docs/rules/recrawl.md)."""


FEWEST_FAILURES = 5
"""So many documents must fail before their share of the source counts: of three pages one may."""

TOLD_REASONS = 3
"""So many reasons are told, the most common ones, beside those that a key of the source file cures."""

MAX_QUARANTINED = 0.5
"""Largest part of a source that may be put aside: beyond it the median page has collapsed.

Source: docs/rules/recrawl.md, guards.
"""


_OVER_LIMIT = re.compile(r"the cap of \d+ bytes \((limits\.\w+)")
_KEY = re.compile(r"\b(?:limits|scope)\.\w|\ballow_private\b|in the source file")
"""In a reason: what names the key of a source file that cures it."""

_LEADING = frozenset({PageKind.INDEX, PageKind.LISTING, PageKind.SEARCH})

NOTHING_READABLE = "the source has no readable document; check its seeds or roots and its scope"


def unread_seeds(seeds: Collection[str], known: Sequence[KnownDocument]) -> dict[str, str]:
    """Seeds that could not be read, in order, and why."""
    by_uri = {document.uri: document for document in known}
    looked_at = [by_uri[seed] for seed in sorted(seeds) if seed in by_uri]
    return {seed.uri: _why_unread(seed) for seed in looked_at if not _reached(seed, by_uri)}


def seed_refusal(seeds: Collection[str], known: Sequence[KnownDocument], *, accept: bool) -> str | None:
    """Say which seed could not be read; None when every seed was, or *accept* and one was."""
    unread = unread_seeds(seeds, known)
    rest = len(set(seeds)) - len(unread)
    if not unread or (accept and rest):
        return None
    seed, why = next(iter(unread.items()))
    trouble = _trouble(next(document for document in known if document.uri == seed))
    refusal = f"seed {seed} cannot be read ({why}); {ADVICE[trouble]}"
    return f"{refusal}; {ADVICE[Trouble.ONE_SEED]}" if rest else refusal


def empty_refusal(known: Sequence[KnownDocument]) -> str | None:
    """Say so when a source has no document that could be read."""
    if any(document.raw_sha is not None and document.state not in REMOVED for document in known):
        return None
    return NOTHING_READABLE


def wordless_refusal(counts: Counts) -> str | None:
    """Say so when a source would have documents and not one chunk of text; *counts* are its rows."""
    if not counts.get("nodes") or counts.get("chunks"):
        return None
    return "no document of the source has any text"


def emptied_documents(
    nodes: Collection[Node], held: Collection[Chunk], chunks: Collection[Chunk]
) -> frozenset[str]:
    """Documents that lose all their passages; pages that are there to lead elsewhere have none to lose."""
    leading = (one.id for one in nodes if isinstance(one, Page) and one.page_kind in _LEADING)
    return frozenset(one.doc for one in held).difference(leading, (one.doc for one in chunks))


def emptied_refusal(changes: Sequence[DocumentChange], *, emptied: int, live: int) -> str | None:
    """Say so when documents that lose all their text, with the removed ones, are too much of the source."""
    removed = _lost(changes)
    if live == 0 or not emptied or emptied + removed <= MAX_REMOVED * live:
        return None
    return f"{emptied} of {live} documents would lose all their text"


def quarantine_refusal(quarantined: int, *, live: int) -> str | None:
    """Say so when most of what readers see could not be replaced by anything good: the site has a bad day."""
    if quarantined <= MAX_QUARANTINED * live:
        return None
    return (
        f"{quarantined} of {live} documents are now an error or login page, have the same text as others, "
        "say something else than before, or lost most of theirs"
    )


def drift_message(known: Sequence[KnownDocument], *, many: int, live: int) -> str | None:
    """Say once what is the matter where *many* documents or more are held since their text is another."""
    held = sum(map(_is_other_text, known))
    if held < many:
        return None
    return (
        f"{held} of {live} documents say something else than before and are held: the site was rewritten, or "
        f"answers wrongly; {ADVICE[Trouble.LOSS]}"
    )


def _is_other_text(document: KnownDocument) -> bool:
    """Whether a page is held that was read well and says something else, as front pages at times do."""
    return document.state is DocumentState.QUARANTINED and document.reason == DRIFTED


def removal_refusal(changes: Sequence[DocumentChange], *, live: int) -> str | None:
    """Say so when more of the source would go than one run may take out."""
    removed = _lost(changes)
    if live == 0 or removed <= MAX_REMOVED * live:
        return None
    return f"{removed} of {live} documents would be removed"


def failure_refusal(
    known: Sequence[KnownDocument], live: Collection[str], *, run_id: str, limits: MaxFailures
) -> str | None:
    """Say so when more documents are unavailable than the source allows; None while none failed in this run.

    *known* are all rows of the source and *live* the addresses that readers see. A document fails when it
    could not be fetched or read, or is not found although readers see it: a dead link is no failure. The
    share is one of the source, whatever part of it a run looks at, and a few failures are no bad day.
    """
    failing = _failing(known, live)
    if not any(document.run_id == run_id for document in failing):
        return None
    whole = sum(d.uri in live or d.state in READABLE or _fails(d, live) for d in known)
    many = len(failing) > limits.share * whole and len(failing) >= FEWEST_FAILURES
    if not many and (limits.documents is None or len(failing) <= limits.documents):
        return None
    allowed = f"{limits.share:.0%} of them" if many else f"{limits.documents}"
    return (
        f"{len(failing)} of {whole} documents were unavailable ({_reasons(failing)}); "
        f"max_failures allows {allowed}"
    )


def failure_advice(known: Sequence[KnownDocument], live: Collection[str]) -> str:
    """Say what to do about failures, the most common first; to accept 404s only where there are some."""
    failing = _failing(known, live)
    troubles = Counter(_trouble(one) for one in failing if one.state is not DocumentState.MISSING)
    told = [one for one, _ in troubles.most_common(TOLD_REASONS) if one is not Trouble.UNTOLD]
    told += [Trouble.MISSING] if any(one.state is DocumentState.MISSING for one in failing) else []
    return "; ".join(ADVICE[one] for one in (*told, Trouble.FAILING))


def _failing(known: Sequence[KnownDocument], live: Collection[str]) -> list[KnownDocument]:
    return [document for document in known if _fails(document, live)]


def _trouble(document: KnownDocument) -> Trouble:
    """What is the matter with a document that cannot be read."""
    match document.state:
        case DocumentState.QUARANTINED:
            return Trouble.NO_CONTENT
        case DocumentState.REDIRECTED:
            return Trouble.LEADS_AWAY
        case DocumentState.MISSING | DocumentState.GONE:
            return Trouble.NOT_FOUND
        case DocumentState.DISALLOWED:
            return Trouble.ROBOTS
        case _:
            return trouble_of(document.reason)


def _fails(document: KnownDocument, live: Collection[str]) -> bool:
    if document.state is DocumentState.MISSING:
        return document.uri in live
    return document.state is DocumentState.FAILED


def _reasons(failing: Sequence[KnownDocument]) -> str:
    """Count the failures by reason: the most common ones, those that a key cures, and all others as one."""
    reasons = Counter(map(_kind_of_reason, failing)).most_common()
    waiting = [reason for reason, _ in reasons if not _KEY.search(reason)]
    untold = frozenset(waiting[TOLD_REASONS:])
    told = [f"{reason}: {number}" for reason, number in reasons if reason not in untold]
    others = sum(number for reason, number in reasons if reason in untold)
    return ", ".join(told) + (f", and {others} for other reasons" if others else "")


def _kind_of_reason(document: KnownDocument) -> str:
    """Why it fails, on one line; without the size, which is another for each document that is too large."""
    reason = one_line(document.reason or document.state.value)
    over = _OVER_LIMIT.search(reason)
    return f"larger than {over[1]} in the source file allows" if over else reason


def _lost(changes: Sequence[DocumentChange]) -> int:
    """Removed documents, files of tools aside; content that goes on under another address is not lost."""
    gone = (change for change in changes if change.kind is ChangeKind.REMOVED and change.successor is None)
    return sum(not is_tools_url(change.uri) for change in gone)


def _why_unread(document: KnownDocument) -> str:
    led = f" to {document.location}" if document.location else ""
    return f"{document.reason or document.state.value}{led}"


def _reached(document: KnownDocument, by_uri: dict[str, KnownDocument]) -> bool:
    for _ in range(10):
        if document.state in READABLE or _is_other_text(document):
            return True
        if document.location is None or document.location not in by_uri:
            return False
        document = by_uri[document.location]
    return False
