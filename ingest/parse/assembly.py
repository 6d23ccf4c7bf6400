"""Sections of an HTML or Markdown page > the typed graph of one document."""

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, takewhile
from urllib.parse import urlsplit

from ingest.parse.chunk_spans import ChunkSpan, cut_chunks
from ingest.parse.chunking import MAX_TOKENS, TINY, CountTokens, text_budget
from ingest.parse.codes import document_codes, extract_codes
from ingest.parse.entry_spans import EntryPiece, Room, part_by_entries
from ingest.parse.graph import DocumentGraph
from ingest.parse.outline import OutlineSection, Stretch, links_in
from ingest.parse.page_facts import PageFacts, PagePart
from ingest.parse.page_kind import page_kind
from ingest.parse.parts import join_parts
from ingest.parse.secrets import hide_in_page
from ingest.parse.short_sections import ChunkPlan, plan_chunks
from ingest.session_ids import without_session
from schemas.edges import EdgeKind, LinkPosition
from schemas.fragment import GraphFragment, Link, LinkPlace, ParseRequest
from schemas.hashing import record_sha256
from schemas.ids import Occurrences, chunk_id, normalise_text, page_id, part_page_id, section_id
from schemas.nodes import Chunk, Page, PageKind, Section

MAX_FRAGMENTS = 200
"""Further ids kept of one chunk; a page made of empty anchors has more, and none of them matters."""


_LINK_LISTS = frozenset({PageKind.INDEX, PageKind.LISTING, PageKind.SEARCH, PageKind.NOT_FOUND})

PlacedLink = tuple[Hashable, LinkPlace]


@dataclass(slots=True, kw_only=True)
class _PageGraph(DocumentGraph):
    kind: PageKind
    sections: list[Section] = field(default_factory=list)
    places: list[PlacedLink] = field(default_factory=list)
    parts: tuple[str, ...] = ()

    def page_of(self, section: OutlineSection) -> str:
        """Return the id of the Page that a section stands on."""
        return self.parts[section.page - 1] if self.parts else self.doc


def assemble_page(
    outline: tuple[OutlineSection, ...],
    links: tuple[Link, ...],
    *,
    request: ParseRequest,
    facts: PageFacts,
    count_tokens: CountTokens,
) -> GraphFragment:
    """Return the fragment of a page: Page > every Section > its Chunks, and Section > Section.

    Where the page has parts, as a book has chapters, these contain the sections: Page > Page > Section.
    `contains` leads from the Page to all of its sections, nested or not, so that one hop reaches each;
    `parent_of` keeps the nesting. A `noindex` page is its Page node alone. Links that are in the outline get
    their places.
    """
    (outline, links, facts, request), secrets = hide_in_page(outline, links, facts, request)
    graph = _PageGraph(request=request, doc=page_id(request.uri), kind=_page_kind(outline, facts, request))
    # Cutting and labelling count the same texts; the tokenizer is the most costly part of a page.
    count_tokens = cache(count_tokens)
    if not facts.noindex:
        graph.parts = tuple(part_page_id(graph.doc, part.name) for part in facts.parts)
        join_parts(graph, graph.parts, facts.parts)
        _add_sections(graph, outline)
        _add_chunks(graph, outline, facts, count_tokens)
        links = place_links(links, graph.places)
    # By all that the page says: of an index of another version of a manual only the targets differ.
    page = _page(graph, facts, page_hash(outline, links, facts.title))
    if graph.kind in _LINK_LISTS:
        links = _as_navigation(links)
    parts = _part_pages(graph, page, outline, facts.parts)
    return GraphFragment(
        uri=request.uri,
        doc=graph.doc,
        kind=facts.kind,
        content_hash=page.content_hash,
        nodes=(page, *parts, *graph.sections, *graph.chunk_nodes()),
        edges=tuple(graph.edges),
        chunks=tuple(graph.chunks),
        links=links,
        references=facts.references,
        names=facts.names,
        doc_id=facts.doc_id,
        title=facts.title,
        noindex=facts.noindex,
        nofollow=facts.nofollow,
        refresh=facts.refresh,
        canonical=facts.canonical,
        alternates=facts.alternates,
        warnings=facts.warnings,
        secrets=secrets,
        modified=facts.modified,
    )


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


def _page(graph: _PageGraph, facts: PageFacts, content_hash: str) -> Page:
    request = graph.request
    return Page(
        id=graph.doc,
        doc=graph.doc,
        source=request.source,
        title=facts.title,
        content_hash=content_hash,
        document_kind=facts.kind,
        url=request.url,
        path=request.path,
        doc_id=facts.doc_id,
        doc_type=request.doc_type,
        domain=request.domain,
        status=request.status,
        version=request.version,
        lang=facts.lang or request.language,
        template_type=facts.template_type,
        page_kind=graph.kind,
        breadcrumbs=facts.breadcrumbs,
        heading_path=_heading_above(graph.sections),
    )


def _as_navigation(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Give the links of the text the position of navigation, which is all that the page is for."""
    return tuple(
        replace(link, position=LinkPosition.NAV) if link.position is LinkPosition.BODY else link
        for link in links
    )


def _page_kind(outline: tuple[OutlineSection, ...], facts: PageFacts, request: ParseRequest) -> PageKind:
    host = urlsplit(request.uri).netloc
    stated = (link for link in links_in(outline) if isinstance(link, Link))
    return page_kind(
        outline,
        title=facts.title,
        uri=request.uri,
        on_site=sum(urlsplit(link.target).netloc == host for link in stated),
        has_search=facts.has_search,
        is_empty=facts.is_empty,
    )


def _heading_above(sections: Sequence[Section | OutlineSection]) -> tuple[str, ...]:
    """The headings that all others of a page stand under: its title as it reads there, if it has one."""
    paths = [section.heading_path for section in sections if section.heading_path]
    shared = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return tuple(names[0] for names in shared)


def _part_pages(
    graph: _PageGraph, page: Page, outline: tuple[OutlineSection, ...], parts: tuple[PagePart, ...]
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
            heading_path=_heading_above(own),
        )
        for (id_, own), part in zip(sections.items(), parts, strict=False)
    )


def _leaving(uri: str, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Links without their places in the document itself, which move with what stands before them."""
    return tuple(replace(link, fragment=None) if link.target == uri else link for link in links)


def _add_sections(graph: _PageGraph, outline: tuple[OutlineSection, ...]) -> None:
    occurrences = Occurrences()
    for ordinal, section in enumerate(outline):
        number = occurrences.number(*section.heading_path)
        node = Section(
            id=section_id(graph.doc, section.heading_path, number),
            doc=graph.doc,
            source=graph.request.source,
            heading=section.heading,
            content_hash=record_sha256([section.heading_path, section.text]),
            number=section.number,
            level=section.level,
            heading_path=section.heading_path,
            ordinal=ordinal,
            text=section.text,
            fragment=section.fragment,
            url=graph.request.url,
            path=graph.request.path,
        )
        graph.sections.append(node)
        graph.join(EdgeKind.CONTAINS, graph.page_of(section), node.id)
        if section.parent is not None:
            graph.join(EdgeKind.PARENT_OF, graph.sections[section.parent].id, node.id)


def _add_chunks(
    graph: _PageGraph, outline: tuple[OutlineSection, ...], facts: PageFacts, count_tokens: CountTokens
) -> None:
    base = _chunk_of_page(graph, facts)
    occurrences = Occurrences()
    plan = ChunkPlan(outline, count_tokens)
    for planned in plan_chunks(plan, (_spans(section, count_tokens) for section in outline)):
        section, node = outline[planned.index], graph.sections[planned.index]
        joined = [outline[index] for index in planned.above]
        own = _fragments(section, planned.span.start, planned.end)
        behind = (_fragments(outline[index], 0, len(outline[index].text) + 1) for index, _ in planned.behind)
        chunk = replace(
            base,
            section=section.heading or None,
            section_id=node.id,
            parent_ids=_parents(graph, outline, planned.index),
            ordinal=len(graph.chunks),
            heading_path=(*section.heading_path, *planned.piece.names),
            fragment=_fragment_at(section, planned.piece, planned.span.start),
            fragments=(*(name for one in joined for name in _fragments(one, 0, 1)), *own, *chain(*behind)),
        )
        headings = (*(one.heading for one in joined), section.heading)
        chunk = _chunk(chunk, section, planned.span, headings, occurrences, count_tokens)
        graph.add_chunk(chunk, cut_from=node.id)
        for index, at in planned.behind:
            graph.join(EdgeKind.CONTAINS, graph.sections[index].id, chunk.id)
            graph.places.extend(_links_behind(outline[index], at, chunk.id))
        for one in joined:
            graph.places.extend((link, LinkPlace(chunk=chunk.id)) for link in one.heading_links)
        graph.places.extend(_links_in(section, planned.span, planned.end, chunk.id))


def _spans(section: OutlineSection, count_tokens: CountTokens) -> Iterator[tuple[EntryPiece, ChunkSpan]]:
    """Cut a section into chunks, none of which reaches beyond its piece."""
    room = Room(
        measure=lambda start, end: count_tokens(section.text[start:end]),
        limit=lambda names: text_budget((*section.heading_path, *names), count_tokens),
        tiny=int(MAX_TOKENS * TINY),
    )
    for piece in part_by_entries(section.text, section.entries, room):
        spans = cut_chunks(
            section.text[piece.start : piece.end],
            _stretches_in(section, piece),
            max_tokens=room.limit(piece.names),
            count_tokens=count_tokens,
        )
        for span in spans:
            yield piece, replace(span, start=span.start + piece.start, end=span.end + piece.start)


def _stretches_in(section: OutlineSection, piece: EntryPiece) -> tuple[Stretch, ...]:
    """What of a piece is not running text, and the entries that share it; offsets are those of the piece."""
    inside = [one for one in section.stretches if piece.start <= one.start and one.end <= piece.end]
    apart = [
        Stretch(start, end, start)
        for start, end in piece.whole
        if not any(start < one.end and one.start < end for one in inside)
    ]
    return tuple(
        replace(
            one,
            start=one.start - piece.start,
            end=one.end - piece.start,
            header_end=one.header_end - piece.start,
        )
        for one in sorted([*inside, *apart], key=lambda one: one.start)
    )


def _chunk_of_page(graph: _PageGraph, facts: PageFacts) -> Chunk:
    """A chunk with all that the chunks of one page share."""
    request = graph.request
    return Chunk(
        id="",
        kind=facts.kind,
        source=request.source,
        doc=graph.doc,
        text="",
        content_hash="",
        ordinal=0,
        offsets=(0, 0),
        token_count=0,
        breadcrumbs=facts.breadcrumbs,
        doc_id=facts.doc_id,
        codes=document_codes(facts.doc_id),
        doc_type=request.doc_type,
        domain=request.domain,
        status=request.status,
        version=request.version,
        url=request.url,
        file_path=request.path,
        lang=facts.lang or request.language,
        template_type=facts.template_type,
        page_kind=graph.kind,
        structure_confidence=facts.structure_confidence,
    )


def _chunk(
    base: Chunk,
    section: OutlineSection,
    span: ChunkSpan,
    headings: tuple[str, ...],
    occurrences: Occurrences,
    count_tokens: CountTokens,
) -> Chunk:
    text = span.text_of(section.text)
    captions = tuple(dict.fromkeys(name for start, end, name in section.captions if _meet(span, start, end)))
    languages = (one.language for one in section.stretches if _meet(span, one.start, one.end))
    path, names = base.heading_path, base.heading_path[len(section.heading_path) :]
    number = occurrences.number(*path, normalise_text(text))
    return replace(
        base,
        id=chunk_id(base.doc, path, text, number),
        text=text,
        content_hash=record_sha256([path, text, captions]),
        token_count=count_tokens(text),
        offsets=(span.start, span.end),
        fragments=tuple(name for name in base.fragments if name != base.fragment)[:MAX_FRAGMENTS],
        codes=tuple(sorted({*base.codes, *extract_codes("\n".join((*headings, *names, text)))})),
        captions=captions,
        code_languages=tuple(dict.fromkeys(name for name in languages if name is not None)),
    )


def _links_in(section: OutlineSection, span: ChunkSpan, end: int, chunk: str) -> Iterator[PlacedLink]:
    """Links that begin in a chunk, up to where the next one does; those of the heading are the first's."""
    if not section.text[: span.start].strip():
        yield from ((link, LinkPlace(chunk=chunk)) for link in section.heading_links)
    low = bisect_right(section.links, span.start - 1, key=lambda link: link[0]) if span.start else 0
    high = bisect_right(section.links, end - 1, key=lambda link: link[0])
    for first, last, link in section.links[low:high]:
        offset = span.offset_of(first) if last > first else None
        yield link, LinkPlace(chunk=chunk, offset=offset)


def _links_behind(section: OutlineSection, at: int, chunk: str) -> Iterator[PlacedLink]:
    """Links of a short section whose text begins at an offset of the chunk that it is read with."""
    yield from ((link, LinkPlace(chunk=chunk)) for link in section.heading_links)
    for first, last, link in section.links:
        yield link, LinkPlace(chunk=chunk, offset=at + first if last > first else None)


def place_links(links: tuple[Link, ...], places: Iterable[PlacedLink]) -> tuple[Link, ...]:
    """Give each link the places where it stands, in reading order."""
    found: dict[Hashable, list[LinkPlace]] = {}
    for link, place in places:
        found.setdefault(link, []).append(place)
    return tuple(replace(link, places=tuple(found[link])) if link in found else link for link in links)


def _meet(span: ChunkSpan, start: int, end: int) -> bool:
    return span.start < end and start < span.end


def _fragments(section: OutlineSection, start: int, end: int) -> tuple[str, ...]:
    """Ids from *start* to before *end*; the section's first chunk also has those of its heading."""
    low = bisect_right(section.anchors, start - 1, key=lambda anchor: anchor[0]) if start else 0
    high = bisect_right(section.anchors, end - 1, key=lambda anchor: anchor[0])
    inside = [name for _, name in section.anchors[low:high]]
    is_first = not section.text[:start].strip()
    above = [*section.aliases, *([section.fragment] if section.fragment else [])] if is_first else []
    return tuple(dict.fromkeys((*above, *inside)))


def _fragment_at(section: OutlineSection, piece: EntryPiece, offset: int) -> str | None:
    """The id of the entry that begins at *offset*, else the nearest id at or before it in the section, else
    that of its heading or the one above.
    """
    if piece.anchor is not None and not section.text[piece.start : offset].strip():
        return piece.anchor
    after = bisect_right(section.anchors, offset, key=lambda anchor: anchor[0])
    return section.anchors[after - 1][1] if after else section.nearest_fragment


def _parents(graph: _PageGraph, outline: tuple[OutlineSection, ...], index: int) -> tuple[str, ...]:
    """Ids from the document over its part down to the section itself, in the order of heading_path."""
    above: list[str] = []
    at: int | None = index
    while at is not None:
        above.append(graph.sections[at].id)
        at = outline[at].parent
    return tuple(dict.fromkeys((graph.doc, graph.page_of(outline[index]), *reversed(above))))
