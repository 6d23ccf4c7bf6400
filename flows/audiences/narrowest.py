"""A document under several addresses is for those alone who may see it under each: pure, over rows."""

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.diff.quarantine import is_form, redirects_to_homepage
from ingest.plan.access import CLOSED, Asked, asked_of, is_named
from ingest.plan.scope import is_inside, seed_urls
from ingest.urls import is_file_url
from schemas.access import Groups
from schemas.documents import ASLEEP, DocumentState, KnownDocument
from schemas.source import Source

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
    rows: Sequence[KnownDocument], sources: Mapping[str, Source], stated: Mapping[str, Groups]
) -> Mapping[Place, Closing]:
    """Return what is asked of readers of each document of an index, where anything is.

    One content is what has the same bytes or the same text, in whichever source; what is another form of it;
    and what names it as its canonical address. Where a document was before it moved counts as well, unless a
    glob of `access.paths` matches where it is now: then the source file has said who is to see it.
    An address that servers do not agree on closes a content that is at no other; else the others decide.

    Args: rows: of all sources; stated: groups that fragments state, by hash.
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
        counts = past and not is_named(sources[row.source], row.uri)
        asked = {**(past if counts else {}), **ChainMap(*(one.now for one in of))}
        others = sorted(asked[groups] for groups in asked.keys() - own[_place(row)])
        undecided = frozenset() if any(one.is_decided for one in of) else asked_at[_place(row)] & CLOSED
        if lists := own[_place(row)] | asked.keys() | undecided:
            found[_place(row)] = Closing(lists, others[0] if others else None)
    return found


def _place(row: KnownDocument) -> Place:
    return row.source, row.uri


def _at(source: str, uri: str) -> str:
    return f"at {source} {uri}" if is_file_url(uri) else f"at {uri}"


def _own(
    row: KnownDocument, sources: Mapping[str, Source], stated: Mapping[str, Groups], there: Collection[str]
) -> Asked:
    """What a document states, and what is asked where it leads, and at the address that it calls its own."""
    said = stated.get(row.fragment_sha or "")
    asked = frozenset({said}) if said else frozenset()
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
