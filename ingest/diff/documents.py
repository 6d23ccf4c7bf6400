"""Documents and files of tools that a source has now, against those of the base generation.

Files of tools are documents of a generation like any other, and none of a site: nobody crawls them, and no
guard counts them. Source of the dates: docs/rules/dates.md.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ingest.diff.moves import Says, aliases_of, follow_moves, has_moved, is_unconfirmed
from ingest.urls import is_tools_url
from schemas.changes import ChangeKind, DocumentChange
from schemas.documents import NOWHERE, READABLE, REMOVED, DocumentState, KnownDocument, LiveDocument, Outcome
from schemas.nodes import Dated, DateOrigin

_ORDER = {origin: place for place, origin in enumerate(DateOrigin)}
_STATED = frozenset(
    {
        DateOrigin.FRONT_MATTER,
        DateOrigin.JSON_LD,
        DateOrigin.META,
        DateOrigin.TIME,
        DateOrigin.PDF,
        DateOrigin.DOCX,
        DateOrigin.PPTX,
        DateOrigin.XLSX,
        DateOrigin.EPUB,
    }
)
"""What is followed though the content stayed. The line in a footer is none of them: many tell of each build.
"""

_ZONES = timedelta(days=1)
"""A day that is said without its zone may have begun somewhere before it begins in UTC."""


def modified_of(known: KnownDocument) -> Dated | None:
    """Return the date of the first origin in the order of `DateOrigin`; one that had not come yet is none."""
    found = (
        _dated(known.stated_modified, known.stated_origin),
        _dated(known.fetched_modified, known.fetched_origin),
        _dated(known.lastmod, DateOrigin.SITEMAP),
    )
    plausible = (one for one in found if one is not None and _has_come(one.at, known.checked_at))
    return min(plausible, key=lambda one: _ORDER[one.origin], default=None)


def keep_modified(old: LiveDocument, new: Dated | None) -> Dated | None:
    """Return the date of a document whose content stayed.

    That is the one it came with, but where the document itself says another, or a better origin is known now.
    """
    held = _dated(old.last_modified, old.last_modified_origin)
    if new is None or held is None:
        return new or held
    better = _ORDER[new.origin] < _ORDER[held.origin]
    published_anew = new.origin is held.origin is DateOrigin.PUBLISHED
    return new if better or published_anew or new.origin in _STATED else held


def _dated(at: str | None, origin: DateOrigin | None) -> Dated | None:
    return Dated(at=at, origin=origin) if at is not None and origin is not None else None


def _has_come(at: str, now: str | None) -> bool:
    return now is None or datetime.fromisoformat(at) <= datetime.fromisoformat(now) + _ZONES


STALE_FAILURES = 3
"""Failures in a row after which the last good version is marked stale."""

_REPLACED = (DocumentState.QUARANTINED, DocumentState.DISALLOWED, DocumentState.UNSUPPORTED)
"""States in which what is there now is known, and is not what readers see."""

_UNCHANGED_AND_UNUSED = (DocumentState.UNSUPPORTED, DocumentState.QUARANTINED, DocumentState.DUPLICATE)
"""States that a document keeps when a 304 says that what was put aside is still there."""


def diff_documents(
    known: Sequence[KnownDocument],
    live: Mapping[str, LiveDocument],
    owners: Mapping[str, str],
    *,
    in_scope: Callable[[str], bool],
    says: Says = lambda _: None,
) -> tuple[DocumentChange, ...]:
    """Return what changes from the base generation to the next, ordered by node id.

    Args: known: all ledger rows of one source; live: that source's documents in the base, by node
    id; owners: source by node id of the base's documents of other sources. A document that another
    source already contains stays that source's. in_scope: whether the source means an address. says: what
    a parsed document says, asked for only where its address leads to another content.
    """
    by_uri = {document.uri: document for document in known}
    held = {document.uri: doc for doc, document in live.items()}
    # What is put aside may be of another kind, as a login page in a PDF's place: the document stays.
    docs = {
        document.uri: held.get(document.uri) if is_unconfirmed(document) else document.doc
        for document in known
    }
    aliases = aliases_of(known, live.values())
    changes = [
        replace(change, successor=_successor(change, document, by_uri, says))
        for document in known
        if (doc := docs[document.uri]) is not None
        and owners.get(doc, document.source) == document.source
        and leads_somewhere(document, by_uri, in_scope)
        and (change := diff_document(document, live.get(doc), aliases=aliases.get(document.uri, ())))
    ]
    claimed = set(docs.values())
    orphans = [
        DocumentChange(kind=ChangeKind.REMOVED, old=old, new=None, reason="no longer part of the source")
        for doc, old in live.items()
        if doc not in claimed
    ]
    return tuple(sorted(changes + orphans, key=lambda change: change.doc))


def diff_document(
    known: KnownDocument, old: LiveDocument | None, *, aliases: tuple[str, ...] = ()
) -> DocumentChange | None:
    """Return one document's change; None when the next generation contains it as the base does."""
    if known.state in REMOVED:
        if old is None:
            return None
        return DocumentChange(kind=ChangeKind.REMOVED, old=old, new=None, reason=_removal(known))
    if known.state not in READABLE:
        return _staled(known, old)
    if known.fragment_sha is None or known.parsed_sha != known.raw_sha:
        return None
    new = _next_live(known, old, aliases)
    if old is not None and _shown(old) == _shown(new):
        return None
    return DocumentChange(kind=_kind(known, old), old=old, new=new)


def is_stale(known: KnownDocument) -> bool:
    """Whether the last good version is no longer what is there, or could not be confirmed for long.

    A 404 that is not confirmed yet says neither, and one failure is a bad day.
    """
    failing = known.state is DocumentState.FAILED and known.failures >= STALE_FAILURES
    return failing or known.state in _REPLACED


def is_held(known: KnownDocument, old: LiveDocument) -> bool:
    """Whether the document could only not be confirmed, and readers see what was read of it last."""
    unconfirmed = known.state in (DocumentState.FAILED, DocumentState.MISSING) and not is_stale(known)
    return unconfirmed and known.content_hash == old.content_hash


def leads_somewhere(
    document: KnownDocument, by_uri: Mapping[str, KnownDocument], in_scope: Callable[[str], bool]
) -> bool:
    """Whether a redirect ends at a document that can be read, or outside the source.

    One that ends in an error, in itself, or where nobody looked because of a budget or too many redirects,
    proves nothing: the page stays.
    """
    passed: set[str] = set()
    while document.state is DocumentState.REDIRECTED:
        passed.add(document.uri)
        target = by_uri.get(document.location or "")
        if target is None:
            return not in_scope(document.location or "")
        if target.uri in passed:
            return False
        document = target
    return not passed or document.state in READABLE


def run_outcome(known: KnownDocument, change: DocumentChange | None, *, owned: bool, shown: bool) -> Outcome:
    """Return the one outcome that a run reports for a document it looked at.

    *shown*: whether readers see it, at its own address or another. Where a link leads to nothing that they
    see, nothing is removed and nothing missing. What turns out to be no document, such as an archive, is
    reported as one that does not belong.
    """
    if has_moved(known):
        return Outcome.MOVED
    if known.state is DocumentState.UNSUPPORTED:
        return Outcome.OUT_OF_SCOPE
    if known.state in NOWHERE and not shown:
        return Outcome.DEAD_LINK
    if known.state not in READABLE:
        return Outcome(known.state.value) if known.state is not DocumentState.NEW else Outcome.FAILED
    if not owned:
        return Outcome.DUPLICATE
    if change is not None and change.kind in (ChangeKind.ADDED, ChangeKind.CHANGED):
        return Outcome(change.kind.value)
    return Outcome.UNCHANGED


def count_outcomes(seen: Sequence[KnownDocument], outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Count what a run looked at and what came of it; the outcomes add up to `scheduled`."""
    looked_at = Counter(known.state for known in seen)
    counted = Counter(outcomes)
    unasked = (DocumentState.NOT_MODIFIED, DocumentState.DISALLOWED, DocumentState.OUT_OF_SCOPE)
    idle = sum(k.state in _UNCHANGED_AND_UNUSED and k.http_status == 304 for k in seen)
    fetched = len(seen) - idle - sum(looked_at[state] for state in unasked)
    return {
        "scheduled": len(seen),
        "fetched": fetched,
        "not_modified": looked_at[DocumentState.NOT_MODIFIED] + idle,
        **{outcome.value: counted[outcome] for outcome in Outcome},
    }


def _successor(
    change: DocumentChange, document: KnownDocument, by_uri: Mapping[str, KnownDocument], says: Says
) -> str | None:
    """Who has the content of a document that goes, word for word, wherever its links lead."""
    if change.kind is not ChangeKind.REMOVED or change.old is None or document.location is None:
        return None
    end = follow_moves(document, by_uri)
    if end is None or end.state not in READABLE:
        return None
    same = end.content_hash == change.old.content_hash or _is_copy(end, document, change.old)
    return end.doc if same or _says_same(end, change.old, says) else None


def _says_same(end: KnownDocument, old: LiveDocument, says: Says) -> bool:
    text = says(old.fragment_sha)
    return text is not None and text == says(end.fragment_sha or "")


def _is_copy(end: KnownDocument, gone: KnownDocument, old: LiveDocument) -> bool:
    """Whether a document has the bytes of one that is gone; their relative links may lead elsewhere."""
    if gone.state is not DocumentState.GONE or gone.content_hash != old.content_hash:
        return False
    return gone.parsed_sha is not None and gone.parsed_sha == end.parsed_sha


def _staled(known: KnownDocument, old: LiveDocument | None) -> DocumentChange | None:
    if old is None or old.stale or not is_stale(known):
        return None
    stale = replace(old, stale=True)
    return DocumentChange(kind=ChangeKind.REFRESHED, old=old, new=stale, reason=known.reason)


def _kind(known: KnownDocument, old: LiveDocument | None) -> ChangeKind:
    if old is None:
        return ChangeKind.ADDED
    return ChangeKind.REFRESHED if old.content_hash == known.content_hash else ChangeKind.CHANGED


def _next_live(known: KnownDocument, old: LiveDocument | None, aliases: tuple[str, ...]) -> LiveDocument:
    # Equal content keeps the time and date it first came with: a new footer is no new document.
    held = old if old is not None and old.content_hash == known.content_hash else None
    modified = modified_of(known)
    if held is not None:
        modified = keep_modified(held, modified)
    assert known.doc is not None
    assert known.fragment_sha is not None
    return LiveDocument(
        doc=known.doc,
        source=known.source,
        uri=known.uri,
        fragment_sha=known.fragment_sha,
        content_hash=known.content_hash or "",
        doc_id=known.doc_id,
        fetched_at=(held or known).fetched_at,
        last_modified=modified.at if modified else None,
        last_modified_origin=modified.origin if modified else None,
        aliases=aliases,
    )


def _shown(live: LiveDocument) -> tuple[object, ...]:
    """What readers see of a document; when its bytes came is none of it."""
    return (live.fragment_sha, live.stale, live.aliases, live.last_modified, live.last_modified_origin)


def _removal(known: KnownDocument) -> str:
    return known.reason or known.state.value


Documents = Mapping[str, LiveDocument]


def without_tools(live: Documents) -> Documents:
    """Return the documents of a site, by node id."""
    return {doc: document for doc, document in live.items() if not is_tools_url(document.uri)}


def diff_tools(named: Iterable[LiveDocument], live: Documents) -> tuple[DocumentChange, ...]:
    """Return what changes among a source's files of tools, ordered by node id.

    Args: named: the files that the source file names, as they are now; live: the source's documents in the
    base.
    """
    now = {document.doc: document for document in named}
    held = {doc: document for doc, document in live.items() if is_tools_url(document.uri)}
    changes = (_change(held.get(doc), now.get(doc)) for doc in sorted(held.keys() | now.keys()))
    return tuple(change for change in changes if change is not None)


def _change(old: LiveDocument | None, new: LiveDocument | None) -> DocumentChange | None:
    if new is None:
        reason = "no longer named by the source file"
        return DocumentChange(kind=ChangeKind.REMOVED, old=old, new=None, reason=reason)
    if old is None:
        return DocumentChange(kind=ChangeKind.ADDED, old=None, new=new)
    if old.fragment_sha == new.fragment_sha:
        return None
    same = old.content_hash == new.content_hash
    return DocumentChange(kind=ChangeKind.REFRESHED if same else ChangeKind.CHANGED, old=old, new=new)
