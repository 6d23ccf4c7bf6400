"""Parts of a document that are Pages of their own: what each is, and the edges that join them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from ingest.parse.outline import OutlineSection, links_in
from ingest.parse.page_facts import PageFacts, PagePart
from ingest.parse.page_graph import PageGraph
from ingest.parse.page_kind import LINK_LISTS, gives_passages, page_kind
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.fragment import Link
from schemas.ids import edge_id
from schemas.nodes import PageKind, page_of

_STARTS = frozenset({"", "/", "/index.html", "/index.htm"})

_Place = tuple[str | None, int | None]
"""Chunk and offset of a link."""

_Same = tuple[str, str, Link, str | None]
"""What links have in common that are one edge: its ends, what it says, and its chunk."""


def kind_of_page(outline: Sequence[OutlineSection], facts: PageFacts, uri: str) -> PageKind:
    """Tell what a page without parts is."""
    return page_kind(
        outline,
        title=facts.title,
        uri=uri,
        on_site=_on_site(outline, uri),
        has_search=facts.has_search,
        is_empty=facts.is_empty,
        is_index=facts.is_index,
    )


def silent_parts(
    outline: Sequence[OutlineSection], facts: PageFacts, uri: str, kinds: Sequence[PageKind]
) -> frozenset[int]:
    """Return the numbers of the parts that only lead elsewhere and give no passages; of a page without, 0.

    The first page of a site is what people ask for by its name, whatever it says.

    Args: kinds: those of the parts, or that of the page.
    """
    if urlsplit(uri).path in _STARTS:
        return frozenset()
    own: dict[int, list[OutlineSection]] = {}
    for section in outline:
        own.setdefault(section.page, []).append(section)
    return frozenset(
        number
        for number, kind in enumerate(kinds, start=1 if facts.parts else 0)
        if not gives_passages(kind, own.get(number, []), is_index=facts.is_index, is_empty=facts.is_empty)
    )


def kinds_of_parts(outline: Sequence[OutlineSection], facts: PageFacts, uri: str) -> tuple[PageKind, ...]:
    """Tell what each part is by its own sections: a book has an index, and is none."""
    own: list[list[OutlineSection]] = [[] for _ in facts.parts]
    for section in outline if facts.parts else ():
        own[section.page - 1].append(section)
    return tuple(
        page_kind(sections, title=part.title, uri=part.name, on_site=_on_site(sections, uri))
        for sections, part in zip(own, facts.parts, strict=True)
    )


def kind_of_whole(kinds: Sequence[PageKind]) -> PageKind:
    """Return what all parts are; content where they differ."""
    return kinds[0] if len(set(kinds)) == 1 else PageKind.CONTENT


def _on_site(outline: Sequence[OutlineSection], uri: str) -> int:
    host = urlsplit(uri).netloc
    stated = (link for link in links_in(outline) if isinstance(link, Link))
    return sum(urlsplit(link.target).netloc == host for link in stated)


def join_parts(graph: PageGraph) -> None:
    """Join a document to its parts, and each part to the one that follows it."""
    for id_ in graph.parts:
        graph.join(EdgeKind.CONTAINS, graph.doc, id_)
    for id_, following in pairwise(graph.parts):
        graph.join(EdgeKind.NEXT, id_, following)


def link_parts(graph: PageGraph, parts: Sequence[PagePart], links: Sequence[Link]) -> None:
    """Join each part to those that it links to, as pages are; equal links of a chunk are one, with a count.

    Args: links: those of the document, with their places. A link of a part that stands in no chunk has none.
    """
    starts = sorted((part.prefix, id_) for id_, part in zip(graph.parts, parts, strict=False) if part.prefix)
    counts: Counter[_Same] = Counter()
    offsets: dict[_Same, int | None] = {}
    for src, link, (chunk, offset), count in _stands(graph, parts, links):
        dst = _part_with(starts, link.fragment or "")
        if dst is not None and dst != src:
            said = Link(target="", text=link.text, position=link.position, fragment=link.fragment)
            counts[src, dst, said, chunk] += count
            offsets.setdefault((src, dst, said, chunk), offset)
    graph.edges.extend(_edge(graph, same, count, offsets[same]) for same, count in counts.items())


def _stands(
    graph: PageGraph, parts: Sequence[PagePart], links: Sequence[Link]
) -> Iterator[tuple[str, Link, _Place, int]]:
    """Yield each link into the document with the part that it stands in, its place, and how often."""
    pages = {chunk.id: page_of(chunk) for chunk in graph.chunks}
    inside = [link for link in links if link.target == graph.request.uri]
    placed: Counter[tuple[str, str, str | None]] = Counter()
    for link in inside:
        for place in link.places:
            placed[pages[place.chunk], link.text, link.fragment] += 1
            yield pages[place.chunk], link, (place.chunk, place.offset), 1
    for src, part, kind in zip(graph.parts, parts, graph.part_kinds, strict=False):
        for link in part.links:
            left = link.count - placed[src, link.text, link.fragment]
            if link.target == graph.request.uri and left > 0:
                yield src, _in_list(link) if kind in LINK_LISTS else link, (None, None), left


def _in_list(link: Link) -> Link:
    return Link(target=link.target, text=link.text, position=LinkPosition.NAV, fragment=link.fragment)


def _part_with(starts: Sequence[tuple[str, str]], fragment: str) -> str | None:
    at = bisect_right(starts, fragment, key=lambda start: start[0])
    prefix, id_ = starts[at - 1] if at else ("", None)
    return id_ if fragment.startswith(prefix) else None


def _edge(graph: PageGraph, same: _Same, count: int, offset: int | None) -> Edge:
    src, dst, link, chunk = same
    kind = EdgeKind.LINKS_TO
    qualifier = (link.text, link.position, link.fragment or "", *([chunk] if chunk else []))
    return Edge(
        id=edge_id(kind, src, dst, *qualifier),
        kind=kind,
        src=src,
        dst=dst,
        doc=graph.doc,
        source=graph.request.source,
        anchor_text=link.text,
        position=link.position,
        fragment=link.fragment,
        count=count,
        chunk=chunk,
        offset=offset,
    )
