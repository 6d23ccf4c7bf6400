"""When a run stops rather than publish: a site's bad day must not empty the index."""

from collections.abc import Collection, Sequence

from ingest.urls import is_tools_url
from schemas.changes import ChangeKind, Counts, DocumentChange
from schemas.documents import READABLE, REMOVED, KnownDocument

MAX_REMOVED = 0.2
"""Largest part of a source that one run may take out without being told to (design 6)."""


MAX_QUARANTINED = 0.5
"""Largest part of a source that may be put aside: beyond it the median page has collapsed (design 6)."""


def seed_refusal(seeds: Collection[str], known: Sequence[KnownDocument]) -> str | None:
    """Say which seed could not be read; None when every seed was."""
    by_uri = {document.uri: document for document in known}
    for seed in sorted(seeds):
        document = by_uri.get(seed)
        if document is not None and not _reached(document, by_uri):
            why = document.reason or document.state.value
            led = f" to {document.location}" if document.location else ""
            return f"seed {seed} cannot be read ({why}{led})"
    return None


def empty_refusal(known: Sequence[KnownDocument]) -> str | None:
    """Say so when a source has no document that could be read."""
    if any(document.raw_sha is not None and document.state not in REMOVED for document in known):
        return None
    return "the source has no readable document; check its seeds or roots and its scope"


def wordless_refusal(counts: Counts) -> str | None:
    """Say so when a source would have documents and not one passage of text; *counts* are its rows."""
    if not counts.get("nodes") or counts.get("chunks"):
        return None
    return "no document of the source has any text"


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
        "or lost most of theirs"
    )


def removal_refusal(changes: Sequence[DocumentChange], *, live: int) -> str | None:
    """Say so when more of the source would go than one run may take out."""
    removed = _lost(changes)
    if live == 0 or removed <= MAX_REMOVED * live:
        return None
    return f"{removed} of {live} documents would be removed"


def _lost(changes: Sequence[DocumentChange]) -> int:
    """Removed documents, files of tools aside; content that goes on under another address is not lost."""
    gone = (change for change in changes if change.kind is ChangeKind.REMOVED and change.successor is None)
    return sum(not is_tools_url(change.uri) for change in gone)


def _reached(document: KnownDocument, by_uri: dict[str, KnownDocument]) -> bool:
    for _ in range(10):
        if document.state in READABLE:
            return True
        if document.location is None or document.location not in by_uri:
            return False
        document = by_uri[document.location]
    return False
