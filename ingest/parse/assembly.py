"""Sections of an HTML or Markdown page > the typed graph of one document."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache

from ingest.parse.chunking import CountTokens
from ingest.parse.links import as_navigation, place_links, without_places
from ingest.parse.outline import MAX_HEADING, Block, OutlineSection, build_outline, cut_heading
from ingest.parse.page_chunks import add_chunks
from ingest.parse.page_graph import (
    PageFacts,
    PageGraph,
    join_parts,
    kind_of_page,
    kind_of_whole,
    kinds_of_parts,
    link_parts,
    page_hash,
    page_node,
    part_pages,
    silent_parts,
)
from ingest.parse.page_kind import LINK_LISTS, NO_PASSAGES
from ingest.parse.secrets import hide_in_page
from schemas.edges import EdgeKind
from schemas.fragment import GraphFragment, Link, ParseRequest
from schemas.ids import Occurrences, page_id, part_page_id, record_sha256, section_id
from schemas.nodes import PageKind, Section

_NAMES = {PageKind.INDEX: "an index", PageKind.LISTING: "a list of links", PageKind.SEARCH: "a search page"}


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
    outline, facts = _with_short_titles(outline, facts)
    (outline, links, facts, request), secrets = hide_in_page(outline, links, facts, request)
    doc, kinds = page_id(request.uri), kinds_of_parts(outline, facts, request.uri)
    kind = kind_of_whole(kinds) if kinds else kind_of_page(outline, facts, request.uri)
    graph = PageGraph(request=request, doc=doc, kind=kind)
    # Cutting and labelling count the same texts; the tokenizer is the most costly part of a page.
    count_tokens = cache(count_tokens)
    if not facts.noindex:
        graph.parts = tuple(part_page_id(graph.doc, part.name) for part in facts.parts)
        graph.part_kinds = kinds
        join_parts(graph)
        _add_sections(graph, outline)
        graph.silent = silent_parts(outline, facts, request.uri, kinds or (kind,))
        add_chunks(graph, outline, facts, count_tokens)
        links = place_links(links, graph.places)
        links = as_navigation(links, _listed(graph)) if graph.parts else links
        links = without_places(links, graph.left_out)
        link_parts(graph, facts.parts, links)
    # By all that the page says: of an index of another version of a manual only the targets differ.
    page = page_node(graph, facts, page_hash(outline, links, facts.title))
    if graph.kind in LINK_LISTS:
        links = as_navigation(links)
    parts = part_pages(graph, page, outline, facts.parts)
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
        translations=facts.translations,
        warnings=(*facts.warnings, *_left_out(graph)),
        secrets=secrets,
        modified=facts.modified,
        access=facts.access,
    )


def _with_short_titles(
    outline: tuple[OutlineSection, ...], facts: PageFacts
) -> tuple[tuple[OutlineSection, ...], PageFacts]:
    """Cut titles that every passage would repeat; one that stands nowhere in the text is text at its end."""
    named = [(facts.title, max((one.page for one in outline), default=0))]
    named += [(part.title, page) for page, part in enumerate(facts.parts, start=1)]
    lost = [
        replace(section, page=page)
        for title, page in named
        if len(title) > MAX_HEADING and not any(title in one.text for one in outline)
        for section in build_outline([Block(text=title)])
    ]
    if all(len(title) <= MAX_HEADING for title, _ in named):
        return outline, facts
    parts = tuple(replace(part, title=cut_heading(part.title)) for part in facts.parts)
    crumbs = tuple(map(cut_heading, facts.breadcrumbs))
    short = replace(facts, title=cut_heading(facts.title), breadcrumbs=crumbs, parts=parts)
    return (*outline, *lost), short


def _add_sections(graph: PageGraph, outline: tuple[OutlineSection, ...]) -> None:
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


def _left_out(graph: PageGraph) -> Iterator[str]:
    """Say that a page, or a chapter, gives no passages."""
    if graph.silent:
        yield f"{'a chapter is an index' if graph.parts else _NAMES[graph.kind]}, {NO_PASSAGES}"


def _listed(graph: PageGraph) -> Collection[str]:
    """The chunks of chapters that list links, those left out among them."""
    return graph.left_out.union(chunk.id for chunk in graph.chunks if chunk.page_kind in LINK_LISTS)
