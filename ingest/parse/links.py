"""The links of a page: canonical, counted, and where each stands in its chunk."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.parse.chunk_spans import ChunkSpan
from ingest.parse.outline import OutlineSection
from ingest.urls import MAX_LENGTH, canonical_url, is_route, split_fragment
from schemas.edges import LinkPosition
from schemas.fragment import Link, LinkPlace

MAX_TEXT = 300
"""Code points of a link's text; a whole card or table inside a link is not its name."""

MAX_NAMED = 80
"""Code points of a wrong link that a warning repeats."""

# What browsers cut off both ends of an address; a no-break space is part of it (WHATWG URL, 4.4).
_AROUND = "".join(map(chr, range(0x21)))
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_NO_DOCUMENT = ("mailto:", "javascript:", "data:", "tel:", "ftp:", "about:", "blob:")


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link as written: `href` unresolved, `text` with single spaces; `key` is what the outline calls it."""

    href: str
    text: str
    position: LinkPosition
    key: Hashable = None


@dataclass(frozen=True, slots=True)
class CollectedLinks:
    """Distinct links in order of first occurrence, what was left out, and the links by their keys."""

    links: tuple[Link, ...]
    warnings: tuple[str, ...] = ()
    by_key: Mapping[Hashable, Link] = field(default_factory=dict)


def collect_links(
    found: Iterable[FoundLink],
    *,
    base: str,
    encode: Callable[[str], str] | None = None,
    routed: bool = False,
) -> CollectedLinks:
    """Resolve links against *base* and count equal ones; *encode* percent-encodes queries, in UTF-8 if None.

    *routed*: a fragment that is a path names a document of its own.

    All are kept: a general index has tens of thousands, and the size of the page bounds them. What names no
    document (mail, scripts) is left out. So are addresses that no browser could follow, and a
    warning counts them.
    """
    targets: dict[str, tuple[str, str | None] | None] = {}
    counts: Counter[tuple[str, str | None, str, LinkPosition]] = Counter()
    keys: dict[Hashable, tuple[str, str | None, str, LinkPosition]] = {}
    wrong: dict[str, None] = {}
    overlong = 0
    for link in found:
        if link.href not in targets:
            targets[link.href] = resolve_href(link.href, base=base, encode=encode, routed=routed)
        target = targets[link.href]
        if target is None:
            if len(link.href) > MAX_LENGTH:
                overlong += not _names_no_document(link.href)
            elif _is_wrong(link.href):
                wrong[link.href] = None
            continue
        key = (*target, link.text[:MAX_TEXT].strip(), link.position)
        counts[key] += 1
        if link.key is not None:
            keys[link.key] = key
    links = tuple(
        Link(target=target, text=text, position=position, fragment=fragment, count=count)
        for (target, fragment, text, position), count in counts.items()
    )
    warnings = _wrong_links(tuple(wrong))
    if overlong:
        warnings = (f"links: {overlong} longer than {MAX_LENGTH} characters left out", *warnings)
    by_count = dict(zip(counts, links, strict=True))
    return CollectedLinks(links, warnings, {key: by_count[link] for key, link in keys.items()})


def resolve_href(
    href: str, *, base: str, encode: Callable[[str], str] | None = None, routed: bool = False
) -> tuple[str, str | None] | None:
    """Return (canonical URI without fragment, fragment as written in decoded form), or None."""
    if _names_no_document(href):
        return None
    document, fragment = split_fragment(href.strip(_AROUND))
    path, mark, query = document.partition("?")
    if encode is not None and not query.isascii():
        document = f"{path}{mark}{encode(query)}"
    if routed and is_route(fragment):
        target = canonical_url(href.strip(_AROUND), base, routed=True)
        return None if target is None else (target, None)
    target = canonical_url(document, base)
    return None if target is None else (target, fragment)


def _names_no_document(href: str) -> bool:
    return href[:20].strip().lower().startswith(_NO_DOCUMENT)


def _is_wrong(href: str) -> bool:
    """Whether an address is meant to lead to a document, by its scheme or the lack of one, and cannot."""
    plain = re.sub(r"[\t\n\r]", "", href.strip(_AROUND))
    return _OTHER_SCHEME.match(plain) is None


def _wrong_links(wrong: Sequence[str]) -> tuple[str, ...]:
    """One line for all wrong links of a page; one that may carry a password is not repeated."""
    if not wrong:
        return ()
    shown = next((" ".join(href.split()) for href in wrong if "@" not in href), "")
    such = f", such as {shown[:MAX_NAMED]!r}" if shown else ""
    return (f"links: {len(wrong)} that no browser could follow left out{such}",)


PlacedLink = tuple[Hashable, LinkPlace]


def place_links(links: tuple[Link, ...], places: Iterable[PlacedLink]) -> tuple[Link, ...]:
    """Give each link the places where it stands, in reading order."""
    found: dict[Hashable, list[LinkPlace]] = {}
    for link, place in places:
        found.setdefault(_said(link), []).append(place)
    return tuple(
        replace(link, places=tuple(found[said])) if (said := _said(link)) in found else link for link in links
    )


def _said(link: Hashable) -> Hashable:
    """What a link says: hidden secrets make equal ones of several, and add up how often they stand there."""
    if isinstance(link, Link) and (link.count != 1 or link.places):
        return replace(link, count=1, places=())
    return link


def place_in_chunk(section: OutlineSection, span: ChunkSpan, end: int, chunk: str) -> Iterator[PlacedLink]:
    """Yield the links that begin in a chunk, up to where the next one does; the first has the heading's."""
    if not section.text[: span.start].strip():
        yield from ((link, LinkPlace(chunk=chunk)) for link in section.heading_links)
    low = bisect_right(section.links, span.start - 1, key=lambda link: link[0]) if span.start else 0
    high = bisect_right(section.links, end - 1, key=lambda link: link[0])
    for first, last, link in section.links[low:high]:
        offset = span.offset_of(first) if last > first else None
        yield link, LinkPlace(chunk=chunk, offset=offset)


def place_behind(section: OutlineSection, at: int, chunk: str) -> Iterator[PlacedLink]:
    """Yield the links of a short section whose text begins at an offset of the chunk that it is read with."""
    yield from ((link, LinkPlace(chunk=chunk)) for link in section.heading_links)
    for first, last, link in section.links:
        yield link, LinkPlace(chunk=chunk, offset=at + first if last > first else None)


def without_places(links: tuple[Link, ...], chunks: Collection[str]) -> tuple[Link, ...]:
    """Take from links the places in *chunks*, which are left out."""
    return tuple(
        replace(link, places=tuple(place for place in link.places if place.chunk not in chunks))
        if chunks and link.places
        else link
        for link in links
    )


def as_navigation(links: Iterable[Link], chunks: Collection[str] | None = None) -> tuple[Link, ...]:
    """Give links of the text the position of navigation: all, or as often as they stand in *chunks*.

    Of an index, a listing or an error page they are all that it is for.
    """
    return tuple(part for link in links for part in _turned(link, chunks))


def _turned(link: Link, chunks: Collection[str] | None) -> Iterator[Link]:
    listed = [place for place in link.places if chunks is None or place.chunk in chunks]
    if link.position is not LinkPosition.BODY or not (listed or chunks is None):
        yield link
        return
    rest = tuple(place for place in link.places if place not in listed)
    count = len(listed) if rest else link.count
    yield replace(link, position=LinkPosition.NAV, places=tuple(listed), count=count)
    if rest:
        yield replace(link, places=rest, count=max(1, link.count - count))
