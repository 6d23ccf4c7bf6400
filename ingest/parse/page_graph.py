"""The typed graph of one document: the nodes of the page and its parts, and the edges that join them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import Any
from urllib.parse import unquote, urlsplit

from ingest.parse.chunking import CountTokens
from ingest.parse.links import PlacedLink
from ingest.parse.outline import OutlineSection, links_in
from ingest.parse.page_kind import LINK_LISTS, gives_passages, page_kind
from ingest.urls import without_session
from schemas.edges import Edge, EdgeKind, LinkPosition, plain_edge
from schemas.fragment import Link, LinkPlace, ParseRequest, Reference
from schemas.ids import Occurrences, chunk_id, edge_id, normalise_text, record_sha256
from schemas.nodes import Chunk, ChunkNode, Dated, Page, PageKind, Section, page_of
from schemas.uses import UseTerms


@dataclass(slots=True, kw_only=True)
class DocumentGraph:
    """What every kind of document gathers: chunks, and edges between its own nodes.

    `texts` numbers the chunks that say the same under the same headings.
    """

    request: ParseRequest
    doc: str
    chunks: list[Chunk] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    texts: Occurrences = field(default_factory=Occurrences)

    def stated(self, lang: str | None) -> dict[str, Any]:
        """Return the fields that the node of the document and its chunks share."""
        request = self.request
        return {
            "doc": self.doc,
            "source": request.source,
            "doc_type": request.doc_type,
            "domain": request.domain,
            "status": request.status,
            "version": request.version,
            "url": request.url,
            "lang": lang or request.language,
        }

    def blank_chunk(self, kind: str, lang: str | None, **fields: Any) -> Chunk:
        """Return a chunk without a text, with all that the chunks of the document share."""
        return Chunk(
            id="",
            kind=kind,
            text="",
            content_hash="",
            ordinal=0,
            offsets=(0, 0),
            token_count=0,
            file_path=self.request.path,
            **self.stated(lang),
            **fields,
        )

    def said(
        self, path: tuple[str, ...], text: str, captions: tuple[str, ...], count_tokens: CountTokens
    ) -> dict[str, Any]:
        """Return the fields of a chunk that follow from its text and what stands over it."""
        number = self.texts.number(*path, normalise_text(text))
        return {
            "id": chunk_id(self.doc, path, text, number),
            "text": text,
            "content_hash": record_sha256([path, text, captions]),
            "token_count": count_tokens(text),
            "heading_path": path,
            "captions": captions,
        }

    def join(self, kind: EdgeKind, src: str, dst: str) -> None:
        """Add an edge that says no more than its kind."""
        self.edges.append(plain_edge(kind, src, dst, doc=self.doc, source=self.request.source))

    def link(self, src: str, dst: str, link: Link, place: LinkPlace | None, *told_by: str) -> None:
        """Add an edge for a link inside the document; *told_by* tells it from others that say the same."""
        kind = EdgeKind.LINKS_TO
        self.edges.append(
            Edge(
                id=edge_id(kind, src, dst, link.text, link.position, link.fragment or "", *told_by),
                kind=kind,
                src=src,
                dst=dst,
                doc=self.doc,
                source=self.request.source,
                anchor_text=link.text,
                position=link.position,
                fragment=link.fragment,
                count=link.count,
                chunk=place.chunk if place else None,
                offset=place.offset if place else None,
            )
        )

    def add_chunk(self, chunk: Chunk, *, cut_from: str) -> None:
        """Add a chunk below the node that it was cut from."""
        self.chunks.append(chunk)
        self.join(EdgeKind.CONTAINS, cut_from, chunk.id)
        self.join(EdgeKind.MATERIALIZED_FROM, chunk.id, cut_from)

    def chunk_nodes(self) -> tuple[ChunkNode, ...]:
        """Return the graph's side of the chunks."""
        return tuple(
            ChunkNode(
                id=chunk.id,
                doc=chunk.doc,
                source=chunk.source,
                content_hash=chunk.content_hash,
                heading_path=chunk.heading_path,
            )
            for chunk in self.chunks
        )


@dataclass(slots=True, kw_only=True)
class PageGraph(DocumentGraph):
    """What an HTML or Markdown page gathers; `parts` are the ids of its chapters, `part_kinds` what each is.

    `silent` are the numbers of those that give no passages, 0 for a page without parts; `left_out` are the
    ids that their chunks would have. `places` are those of the links in chunks, in reading order.
    """

    kind: PageKind
    parts: tuple[str, ...] = ()
    part_kinds: tuple[PageKind, ...] = ()
    silent: frozenset[int] = frozenset()
    sections: list[Section] = field(default_factory=list)
    places: list[PlacedLink] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def page_of(self, section: OutlineSection) -> str:
        """Return the id of the Page that a section stands on."""
        return self.parts[section.page - 1] if self.parts else self.doc

    def kind_of(self, section: OutlineSection) -> PageKind:
        """Return what that Page is."""
        return self.part_kinds[section.page - 1] if self.parts else self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """A part of a document that is a Page of its own: a chapter of a book.

    `name` tells it from the others for good, as its path in the archive does; `fragment` opens it, and those
    of all that stands in it begin with `prefix`.
    """

    name: str
    title: str
    fragment: str | None = None
    prefix: str | None = None
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """What a parser knows of a page besides its sections and links.

    `has_search`: a form in its content asks for words to search for. `is_empty`: its main element has none.
    `is_index`: its generator says that it is an index.
    `parts` are in reading order, as their sections count them: the first is that of `page` 1. `access` is
    as in a `GraphFragment`, `uses` as in a `Page`, without times.
    """

    kind: str
    title: str
    template_type: str
    breadcrumbs: tuple[str, ...] = ()
    lang: str | None = None
    modified: Dated | None = None
    doc_id: str | None = None
    references: tuple[Reference, ...] = ()
    names: tuple[str, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    refresh: str | None = None
    canonical: str | None = None
    alternates: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()
    structure_confidence: float = 1.0
    has_search: bool = False
    is_empty: bool = False
    is_index: bool = False
    warnings: tuple[str, ...] = ()
    access: tuple[str, ...] = ()
    uses: UseTerms = ()
    parts: tuple[PagePart, ...] = ()


def file_name(request: ParseRequest) -> str:
    """Return the last name in the path or URL of a document."""
    return _path(request).rstrip("/").rpartition("/")[2] or request.uri


def folders(request: ParseRequest) -> tuple[str, ...]:
    """Return the names above it."""
    return tuple(name for name in _path(request).split("/")[:-1] if name)


def _path(request: ParseRequest) -> str:
    return request.path or unquote(urlsplit(request.uri).path)


def page_node(graph: PageGraph, facts: PageFacts, content_hash: str) -> Page:
    """Return the node of the document itself."""
    return Page(
        id=graph.doc,
        title=facts.title,
        content_hash=content_hash,
        document_kind=facts.kind,
        path=graph.request.path,
        doc_id=facts.doc_id,
        template_type=facts.template_type,
        page_kind=graph.kind,
        breadcrumbs=facts.breadcrumbs,
        heading_path=_heading_above(graph.sections),
        uses=facts.uses,
        **graph.stated(facts.lang),
    )


def _heading_above(sections: Sequence[Section | OutlineSection]) -> tuple[str, ...]:
    """The headings that all others of a page stand under: its title as it reads there, if it has one."""
    paths = [section.heading_path for section in sections if section.heading_path]
    shared = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return tuple(names[0] for names in shared)


def part_pages(
    graph: PageGraph, page: Page, outline: tuple[OutlineSection, ...], parts: tuple[PagePart, ...]
) -> tuple[Page, ...]:
    """Return the parts of a page, each with what they share and a title, hash and fragment of its own."""
    sections: dict[str, list[OutlineSection]] = {id_: [] for id_ in graph.parts}
    for section in outline if graph.parts else ():
        sections[graph.page_of(section)].append(section)
    return tuple(
        replace(
            page,
            id=id_,
            title=part.title,
            content_hash=page_hash(tuple(own), _leaving(graph.request.uri, part.links), part.title),
            fragment=part.fragment,
            doc_id=None,
            uses=(),
            page_kind=kind,
            heading_path=_heading_above(own),
        )
        for (id_, own), part, kind in zip(sections.items(), parts, graph.part_kinds, strict=False)
    )


def _leaving(uri: str, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Links without their places in the document itself, which move with what stands before them."""
    return tuple(replace(link, fragment=None) if link.target == uri else link for link in links)


def page_hash(outline: tuple[OutlineSection, ...], links: tuple[Link, ...], title: str) -> str:
    """Hash what a reader sees: title, headings, texts and where the links of the text lead.

    A session id in a link is another one at every visit, and none of what the page says.
    """
    targets = {
        (without_session(link.target) or link.target, link.fragment or "")
        for link in links
        if link.position is LinkPosition.BODY
    }
    return record_sha256(
        {
            "title": title,
            "sections": [[section.level, section.heading, section.text] for section in outline],
            "links": sorted(targets),
        }
    )


_STARTS = frozenset({"", "/", "/index.html", "/index.htm"})

_Same = tuple[str, str, Link, str]
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
    places: dict[_Same, LinkPlace | None] = {}
    for src, link, place, count in _stands(graph, parts, links):
        dst = _part_with(starts, link.fragment or "")
        if dst is not None and dst != src:
            said = Link(target="", text=link.text, position=link.position, fragment=link.fragment)
            same = src, dst, said, place.chunk if place else ""
            counts[same] += count
            places.setdefault(same, place)
    for (src, dst, said, chunk), count in counts.items():
        place = places[src, dst, said, chunk]
        graph.link(src, dst, replace(said, count=count), place, *([chunk] if chunk else ()))


def _stands(
    graph: PageGraph, parts: Sequence[PagePart], links: Sequence[Link]
) -> Iterator[tuple[str, Link, LinkPlace | None, int]]:
    """Yield each link into the document with the part that it stands in, its place, and how often."""
    pages = {chunk.id: page_of(chunk) for chunk in graph.chunks}
    inside = [link for link in links if link.target == graph.request.uri]
    placed: Counter[tuple[str, str, str | None]] = Counter()
    for link in inside:
        for place in link.places:
            placed[pages[place.chunk], link.text, link.fragment] += 1
            yield pages[place.chunk], link, place, 1
    for src, part, kind in zip(graph.parts, parts, graph.part_kinds, strict=False):
        for link in part.links:
            left = link.count - placed[src, link.text, link.fragment]
            if link.target == graph.request.uri and left > 0:
                yield src, _in_list(link) if kind in LINK_LISTS else link, None, left


def _in_list(link: Link) -> Link:
    return Link(target=link.target, text=link.text, position=LinkPosition.NAV, fragment=link.fragment)


def _part_with(starts: Sequence[tuple[str, str]], fragment: str) -> str | None:
    at = bisect_right(starts, fragment, key=lambda start: start[0])
    prefix, id_ = starts[at - 1] if at else ("", None)
    return id_ if fragment.startswith(prefix) else None
