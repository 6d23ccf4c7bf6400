"""Where the links of a page stand: in which chunk, at which offset, and whether in its text or a list."""

from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import replace

from ingest.parse.chunk_spans import ChunkSpan
from ingest.parse.outline import OutlineSection
from schemas.edges import LinkPosition
from schemas.fragment import Link, LinkPlace

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
    return replace(link, count=1, places=()) if isinstance(link, Link) else link


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
