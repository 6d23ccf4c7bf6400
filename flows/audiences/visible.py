"""Which rows of the whole index's ledger an audience may have: pure, over plain rows."""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.diff.moves import follow_moves
from ingest.diff.quarantine import is_form, redirects_to_homepage
from ingest.plan.access import CLOSED, Asked, asked_of, has_path_rule
from ingest.plan.scope import is_inside, seed_urls
from ingest.urls import is_file_url
from schemas.access import Groups, is_refusal
from schemas.documents import ASLEEP, READABLE, DocumentState, KnownDocument
from schemas.source import Source

_OF_LOOKS: dict[str, Any] = {
    "run_id": None,
    "checked_at": None,
    "interval": None,
    "next_due": None,
    "lastmod_then": None,
    "lastmod_held": None,
    "unmodified": 0,
    "repeats": 0,
    "etag": None,
    "http_status": None,
    "fetched_at": None,
    "reason": "",
}
"""What a look changes that found the document as it was, and what it has then; no generation follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleRows:
    """What an audience has of a source, against what it is to have.

    `rows` are all of them; `save` those that are new or differ, `bring` those of them that are made of other
    files than before, `remove` addresses of those that go.
    `hidden` are those of `remove` that the whole index has and the audience may not see. `changes`: whether
    more differs than when documents were looked at.
    """

    rows: tuple[KnownDocument, ...]
    save: tuple[KnownDocument, ...]
    bring: tuple[KnownDocument, ...]
    remove: tuple[str, ...]
    hidden: tuple[str, ...]
    changes: bool


def plan_visible(
    known: Sequence[KnownDocument],
    held: Mapping[str, KnownDocument],
    *,
    may_see: Callable[[KnownDocument], bool],
) -> VisibleRows:
    """Choose the rows of a source that an audience may have.

    Args: known: all rows of the whole index's ledger; held: those of the audience's, by address; may_see:
    whether its readers may see a row, by its address and what was parsed of it. What was never parsed may say
    whom it is for, so it is left out, but for a redirect that leads to what is seen, or out of the source.
    """
    by_uri = {document.uri: document for document in known}
    parsed = {d.uri for d in known if d.fragment_sha is not None and may_see(d)}
    seen = parsed | {d.uri for d in known if _leads_on(d, by_uri, parsed) and may_see(d)}
    hidden = by_uri.keys() - seen
    rows = tuple(_without_hidden(by_uri[uri], hidden) for uri in sorted(seen))
    save = tuple(row for row in rows if held.get(row.uri) != row)
    remove = tuple(sorted(held.keys() - seen))
    return VisibleRows(
        rows=rows,
        save=save,
        bring=tuple(row for row in save if _files(row) != _files(held.get(row.uri))),
        remove=remove,
        hidden=tuple(uri for uri in remove if uri in by_uri),
        changes=bool(remove) or any(not _is_as_before(row, held.get(row.uri)) for row in save),
    )


def bytes_to_bring(rows: Sequence[KnownDocument]) -> tuple[frozenset[str], frozenset[str]]:
    """Return hashes of fetched bytes, and of what was parsed of them, that these rows are made of.

    Bytes that nobody has read yet may say whom they are for; those with secrets are not kept.
    """
    awake = [row for row in rows if row.state not in ASLEEP]
    raw = {d.raw_sha for d in awake if d.raw_sha and d.parsed_sha == d.raw_sha and not d.is_withheld}
    return frozenset(raw), frozenset(d.fragment_sha for d in awake if d.fragment_sha)


def _files(row: KnownDocument | None) -> tuple[object, ...]:
    """What a row is made of, as far as that decides which files are kept."""
    if row is None:
        return ()
    return row.raw_sha, row.parsed_sha, row.fragment_sha, row.is_withheld, row.state in ASLEEP


def _leads_on(document: KnownDocument, rows: Mapping[str, KnownDocument], seen: set[str]) -> bool:
    if document.state is not DocumentState.REDIRECTED or document.fragment_sha is not None:
        return False
    if document.location not in rows:
        return True
    end = follow_moves(document, rows)
    return end is not None and end.uri in seen


def _without_hidden(row: KnownDocument, hidden: set[str]) -> KnownDocument:
    """Leave out the addresses of documents that are not seen."""
    return replace(
        row,
        location=None if row.location in hidden else row.location,
        found_by=None if row.found_by in hidden else row.found_by,
    )


def _is_as_before(row: KnownDocument, held: KnownDocument | None) -> bool:
    if held is None:
        return False
    if {row.state, held.state} <= READABLE:
        held = replace(held, state=row.state)
    return replace(row, **_OF_LOOKS) == replace(held, **_OF_LOOKS)


Place = tuple[str, str]
"""A source by name, and an address."""

_PAST = ASLEEP | {DocumentState.REDIRECTED}
_LEADING = {DocumentState.DUPLICATE, DocumentState.GONE}


@dataclass(frozen=True, slots=True)
class Closing:
    """Lists of groups, of each of which a reader needs one; *as_of* is the other address that asks for it."""

    asked: Asked
    as_of: str | None


@dataclass(slots=True)
class _Content:
    """What addresses of one content ask for, each list with the first of them; those of the past apart."""

    now: dict[Groups, str] = field(default_factory=dict)
    past: dict[Groups, str] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    is_decided: bool = False


def find_closings(
    rows: Sequence[KnownDocument], sources: Mapping[str, Source], stated: Mapping[str, Asked]
) -> Mapping[Place, Closing]:
    """Return what is asked of readers of each document of an index, where anything is.

    One content is what has the same bytes or the same text, in whichever source; what is another form of it;
    and what names it as its canonical address. Where a document was before it moved counts as well, unless a
    glob of `access.paths` matches where it is now: then the source file has said who is to see it.
    An address that servers do not agree on closes a content that is at no other; else the others decide.
    A use is refused where it is refused now, at any address of the content.

    Args: rows: of all sources; stated: what fragments state, by hash.
    """
    there = {_at(*_place(row)) for row in rows}
    asked_at = {_place(row): asked_of(sources[row.source], row.uri) for row in rows}
    own = {_place(row): (asked_at[_place(row)] - CLOSED) | _own(row, sources, stated, there) for row in rows}
    if not any(own.values()) and not any(asked_at.values()):
        return {}
    content_of = _joined(_keys(row, sources[row.source]) for row in rows)
    contents: dict[str, _Content] = {}
    for row in rows:
        content = contents.setdefault(content_of(_at(*_place(row))), _Content())
        for groups in own[_place(row)]:
            if row.state in _PAST and is_refusal(groups):
                continue
            (content.past if row.state in _PAST else content.now).setdefault(groups, row.uri)
        content.is_decided |= row.state not in _PAST and not asked_at[_place(row)] & CLOSED
        if row.canonical and row.state not in _PAST:
            content.named.add(content_of(_at(row.source, row.canonical)))
    _follow_names(contents)
    found = {}
    for row in rows:
        keys = {content_of(key): None for key in (_at(*_place(row)), *_same(row))}
        of = [contents[key] for key in keys if key in contents]
        past = ChainMap(*(one.past for one in of))
        counts = past and not has_path_rule(sources[row.source], row.uri)
        asked = {**(past if counts else {}), **ChainMap(*(one.now for one in of))}
        others = sorted(asked[one] for one in asked.keys() - own[_place(row)] if not is_refusal(one))
        undecided = frozenset() if of[0].is_decided else asked_at[_place(row)] & CLOSED
        if lists := own[_place(row)] | asked.keys() | undecided:
            found[_place(row)] = Closing(lists, others[0] if others else None)
    return found


def _place(row: KnownDocument) -> Place:
    return row.source, row.uri


def _at(source: str, uri: str) -> str:
    return f"at {source} {uri}" if is_file_url(uri) else f"at {uri}"


def _own(
    row: KnownDocument, sources: Mapping[str, Source], stated: Mapping[str, Asked], there: Collection[str]
) -> Asked:
    """What a document states, and what is asked where it leads, and at the address that it calls its own."""
    asked = stated.get(row.fragment_sha or "", frozenset())
    if row.canonical and row.canonical != row.uri:
        asked |= _asked_anywhere(row.source, sources, row.canonical) - CLOSED
    if row.state is DocumentState.REDIRECTED and row.location and _at(row.source, row.location) not in there:
        asked |= _asked_anywhere(row.source, sources, row.location)
    return asked


def _asked_anywhere(name: str, sources: Mapping[str, Source], uri: str) -> Asked:
    """What is asked at an address by its own source, and by others that mean it."""
    others = (one for one in sources.values() if not is_file_url(uri) and is_inside(one, uri))
    return frozenset().union(*(asked_of(one, uri) for one in (sources[name], *others)))


def _keys(row: KnownDocument, source: Source) -> Iterator[str]:
    """What rows of one content have in common; a login form in the place of a document is none of its."""
    yield _at(*_place(row))
    if not is_form(row):
        yield from _same(row)
    if row.location and (row.state in _LEADING or _has_moved(row, source)):
        yield _at(row.source, row.location)


def _same(row: KnownDocument) -> Iterator[str]:
    """Bytes and text of a row."""
    yield from (f"bytes {sha}" for sha in (row.raw_sha, row.parsed_sha) if sha)
    if row.content_hash and row.words:
        yield f"text {row.content_hash}"


def _has_moved(row: KnownDocument, source: Source) -> bool:
    """Whether a document that was at an address is elsewhere for good; many lead to a start page instead."""
    was_there = row.state is DocumentState.REDIRECTED and row.moves > 0 and row.content_hash is not None
    return was_there and row.refresh is None and not redirects_to_homepage(row, seed_urls(source))


def _joined(groups: Iterable[Iterable[str]]) -> Callable[[str], str]:
    """Join keys that stand in one group, and what is joined with them; give each one key of all."""
    parent: dict[str, str] = {}

    def top(key: str) -> str:
        while (above := parent.setdefault(key, key)) != key:
            parent[key] = key = parent[above]
        return key

    for first, *others in groups:
        for key in others:
            parent[top(key)] = top(first)
    return top


def _follow_names(contents: Mapping[str, _Content]) -> None:
    """Let what names a canonical address ask for what is asked there, and so on."""
    more = True
    while more:
        more = False
        for content in contents.values():
            for name in sorted(content.named & contents.keys()):
                missing = contents[name].now.keys() - content.now.keys()
                content.now.update({groups: contents[name].now[groups] for groups in missing})
                more = more or bool(missing)
