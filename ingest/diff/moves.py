"""The same content at several addresses: one of them stands for all, and those that are gone lead to it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from ingest.diff.address_forms import VersionForm, version_forms
from schemas.documents import READABLE, REMOVED, DocumentState, KnownDocument, LiveDocument

MIN_WORDS = 25
"""Words below which equal content proves nothing: notices, stubs and empty pages are alike by chance. Of such
pages only equal bytes make duplicates."""

CONFIRMED_MOVES = 2
"""Looks in a row at a permanent redirect to one address after which a document has moved (301, 308)."""

_LEADING = (DocumentState.REDIRECTED, DocumentState.DUPLICATE, DocumentState.GONE)
"""States in which a location says where the content is; a quarantined redirect leads nowhere."""


Says = Callable[[str], str | None]
"""From the hash of a parsed document to one of its text, wherever its links lead; None: no text, or lost.
A document that moves takes its relative links along, to other addresses."""


def _unknown(_: str) -> None:
    return None


def deduplicate(
    known: Sequence[KnownDocument],
    held: Collection[str] = (),
    live: Collection[LiveDocument] = (),
    *,
    twins: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    version_of: Callable[[str], str | None] = _unknown,
    says: Says = _unknown,
) -> tuple[KnownDocument, ...]:
    """Return the rows that change: duplicates, those that no longer are, and gone ones whose content goes on.

    Args: known: all rows of one source, in any order; held: addresses of those that could only not be
    confirmed and whose content readers still see: copies of it wait, since a bad day proves nothing; live:
    the base's documents; twins: what is another form of a document, with that one's address and the reason;
    version_of: of which version of a manual an address is: those of two are not the same, whatever they say;
    says: tells where a gone page goes on that readers see: on a page that is new and says the same.
    The result depends on nothing else, so that it is the same whatever was fetched
    first.
    """
    key_of = partial(_key, version_of=version_of)
    seen = {document.uri for document in live}
    winners = _winners((d for d in known if d.uri not in twins), held, key_of, seen)
    rows, stood = {d.uri: d for d in known}, _stood_for(live)
    lost = [d for d in known if _is_lost(d, seen, rows) and key_of(d) not in winners]
    new = [rows[uri] for uri in winners.values() if uri not in seen] if lost else []
    found = _pair(lost, new, _text_key(lost, version_of, says), {})
    updated = []
    for document in known:
        winner = winners.get(key_of(document) or "") or found.get(document.uri)
        if document.state is DocumentState.GONE:
            updated.append(_locate_gone(document, winner, rows, stood.get(document.uri)))
        elif document.uri in twins and _is_alive(document):
            original, why = twins[document.uri]
            place = winners.get(key_of(rows[original]) or "") or original
            updated.append(replace(document, state=DocumentState.DUPLICATE, location=place, reason=why))
        else:
            updated.append(_mark_duplicate(document, winner))
    return tuple(new for old, new in zip(known, updated, strict=True) if new != old)


def locate_gone(
    known: Sequence[KnownDocument],
    live: Collection[str],
    *,
    version_of: Callable[[str], str | None] = _unknown,
    says: Says = _unknown,
) -> tuple[KnownDocument, ...]:
    """Return the rows that change: gone files that go on under a new path, or no longer do.

    A path is new where readers do not see it yet, and takes in one file: a copy that was there before is a
    document of its own. Equal bytes are one content, since in a renamed folder relative links lead to new
    paths and nothing was edited; so is equal text, where links were edited to lead there. Of several paths
    the one with the same file name comes first, then the shorter.

    Args: known: all rows of one source; live: the addresses that readers see of it; version_of: of which
    version of a manual an address is, and no other version is where it goes on; says: what files say.
    """
    rows = {document.uri: document for document in known}
    gone = [d for d in known if d.state is DocumentState.GONE]
    lost = [d for d in gone if _is_lost(d, live, rows)]
    there = {*live, *(d.location for d in gone)}
    new = [d for d in known if d.uri not in there and d.state in READABLE] if lost else []
    found: dict[str, str] = {}
    keys: tuple[Callable[[KnownDocument], str | None], ...] = (
        partial(_bytes_key, version_of=version_of),
        partial(_key, version_of=version_of),
        _text_key(lost, version_of, says),
    )
    for key_of in keys:
        found |= _pair(lost, new, key_of, found)
    rows |= {uri: replace(rows[uri], location=place) for uri, place in found.items()}
    located = (replace(rows[d.uri], location=_kept(rows[d.uri].location, rows)) for d in gone)
    return tuple(row for old, row in zip(gone, located, strict=True) if row != old)


def _is_lost(document: KnownDocument, seen: Collection[str], rows: Mapping[str, KnownDocument]) -> bool:
    """Whether readers see a document that is gone and of which nobody knows where it goes on."""
    gone = document.state is DocumentState.GONE and document.uri in seen
    return gone and not _goes_on(document.location, rows)


def _kept(place: str | None, rows: Mapping[str, KnownDocument]) -> str | None:
    return place if _goes_on(place, rows) else None


def _pair(
    lost: Sequence[KnownDocument],
    new: Sequence[KnownDocument],
    key_of: Callable[[KnownDocument], str | None],
    paired: Mapping[str, str],
) -> Mapping[str, str]:
    """A new path for each lost file that is not *paired* and has the key of one; no path twice."""
    taken, left = set(paired.values()), dict[str, set[str]]()
    for document in new:
        if document.uri not in taken and (key := key_of(document)):
            left.setdefault(key, set()).add(document.uri)
    wanted = sorted((d.uri, key) for d in lost if d.uri not in paired and (key := key_of(d)) in left)
    found: dict[str, str] = {}
    for fits in (_have_one_name, lambda *_: True):
        for uri, key in wanted:
            free = [place for place in left[key] if uri not in found and fits(place, uri)]
            if free:
                found[uri] = min(free, key=lambda place: (len(place), place))
                left[key].remove(found[uri])
    return found


def _have_one_name(one: str, other: str) -> bool:
    return one.rpartition("/")[2] == other.rpartition("/")[2]


def has_moved(known: KnownDocument) -> bool:
    """Whether the document is elsewhere for good: permanently redirected, or its content found there."""
    if known.state is DocumentState.REDIRECTED:
        return known.moves >= CONFIRMED_MOVES
    return known.state is DocumentState.GONE and known.location is not None


def aliases_of(
    known: Iterable[KnownDocument], live: Iterable[LiveDocument] = ()
) -> Mapping[str, tuple[str, ...]]:
    """Addresses that stand for each document, by its own address, in order.

    Those of duplicates, of documents whose content was found elsewhere, and of permanent redirects from the
    first look on: a second one would else write a generation in which nothing is new. One whose way ends
    that is unavailable at the moment stands for what it stood for in *live*, the base's documents.
    """
    rows = {document.uri: document for document in known}
    stood = _stood_for(live)
    aliases: dict[str, list[str]] = {}
    for uri in sorted(rows):
        end = follow_moves(rows[uri], rows) if _stands_for_another(rows[uri]) else rows[uri]
        if end is not None and is_unconfirmed(end) and stood.get(uri) in rows:
            end = follow_moves(rows[stood[uri]], rows)
        if end is not None and end.uri != uri and end.state in READABLE:
            aliases.setdefault(end.uri, []).append(uri)
    return {uri: tuple(names) for uri, names in aliases.items()}


def follow_moves(document: KnownDocument, by_uri: Mapping[str, KnownDocument]) -> KnownDocument | None:
    """Return the row where the document's address ends up; None when that is unknown or goes in a circle."""
    passed = {document.uri}
    at: KnownDocument | None = document
    while at is not None and at.state in _LEADING and at.location is not None:
        at = by_uri.get(at.location)
        if at is not None and at.uri in passed:
            return None
        if at is not None:
            passed.add(at.uri)
    return at


def by_preference(
    group: Sequence[KnownDocument], forms: Mapping[str, VersionForm], seen: Collection[str]
) -> list[KnownDocument]:
    """Order documents of one content, the one that stands for it first.

    A page's own choice comes first, then the preferred version (version_forms), then what readers see,
    then the shorter, then the lower address. Where readers see one, a copy that is new chooses nothing.
    """
    choosing = [document for document in group if document.uri in seen] or group
    named = {document.canonical for document in choosing if document.canonical != document.uri}
    of_one = len({forms[document.uri].page for document in group}) == 1

    def place(document: KnownDocument) -> tuple[object, ...]:
        uri = document.uri
        return (uri not in named, forms[uri].ranks if of_one else (), uri not in seen, len(uri), uri)

    return sorted(group, key=place)


def _winners(
    known: Iterable[KnownDocument],
    held: Collection[str],
    key_of: Callable[[KnownDocument], str | None],
    seen: Collection[str],
) -> Mapping[str, str]:
    """The address that stands for each content."""
    groups: dict[str, list[KnownDocument]] = {}
    for document in known:
        if (_is_alive(document) or document.uri in held) and (key := key_of(document)):
            groups.setdefault(key, []).append(document)
    # Of all at once: whether a bare number is a version is told by what else stands in its place.
    forms = version_forms(document.uri for group in groups.values() for document in group)
    return {key: by_preference(group, forms, seen)[0].uri for key, group in groups.items()}


def _locate_gone(
    document: KnownDocument, winner: str | None, rows: Mapping[str, KnownDocument], stood_for: str | None
) -> KnownDocument:
    """Say where the content went; that stays known when the page there is edited, until it goes as well.

    What never had content, as a redirect, leads nowhere when it is gone.
    """
    kept = document.location if _goes_on(document.location, rows) else None
    other = stood_for if document.content_hash is not None and _goes_on(stood_for, rows) else None
    return replace(document, location=kept or winner or other)


def _goes_on(place: str | None, rows: Mapping[str, KnownDocument]) -> bool:
    start = rows.get(place or "")
    end = follow_moves(start, rows) if start is not None else None
    return end is not None and end.state not in REMOVED


def _mark_duplicate(document: KnownDocument, winner: str | None) -> KnownDocument:
    if _is_alive(document) and winner not in (None, document.uri):
        why = f"same content as {winner}"
        return replace(document, state=DocumentState.DUPLICATE, location=winner, reason=why)
    if document.state is DocumentState.DUPLICATE:
        return replace(document, state=DocumentState.FETCHED, location=None, reason="")
    return document


def _stood_for(live: Iterable[LiveDocument]) -> Mapping[str, str]:
    return {alias: document.uri for document in live for alias in document.aliases}


def _stands_for_another(document: KnownDocument) -> bool:
    if document.state is DocumentState.REDIRECTED:
        return document.moves > 0
    return document.state in _LEADING and document.location is not None


def is_unconfirmed(document: KnownDocument) -> bool:
    """Whether the last look gave neither content nor a reason to take the document out."""
    return document.state not in READABLE and document.state not in REMOVED


def _is_alive(document: KnownDocument) -> bool:
    return document.state in READABLE or document.state is DocumentState.DUPLICATE


def _bytes_key(document: KnownDocument, *, version_of: Callable[[str], str | None]) -> str | None:
    """What must be equal for two files to have the same bytes, of one version; None: not known."""
    is_older = _is_alive(document) and document.parsed_sha != document.raw_sha
    if is_older or document.doc is None or document.parsed_sha is None:
        return None
    return f"{version_of(document.uri)} {document.parsed_sha}"


def _text_key(
    lost: Iterable[KnownDocument], version_of: Callable[[str], str | None], says: Says
) -> Callable[[KnownDocument], str | None]:
    """What must be equal for a document to say what one of *lost* said; others are not read."""
    lengths = {document.words for document in lost if (document.words or 0) >= MIN_WORDS}

    def key(document: KnownDocument) -> str | None:
        text = says(document.fragment_sha or "") if document.words in lengths else None
        return text and f"{version_of(document.uri)} {text}"

    return key


def _key(document: KnownDocument, *, version_of: Callable[[str], str | None]) -> str | None:
    """What must be equal for two documents to be the same."""
    if document.content_hash is None or document.parsed_sha is None or document.doc is None:
        return None
    if _is_alive(document) and document.parsed_sha != document.raw_sha:
        return None
    is_long = document.words is not None and document.words >= MIN_WORDS
    # Equal bytes are not yet equal content: their relative links lead to different places.
    content = document.content_hash if is_long else f"{document.content_hash} {document.parsed_sha}"
    version = version_of(document.uri)
    return content if version is None else f"{version} {content}"
