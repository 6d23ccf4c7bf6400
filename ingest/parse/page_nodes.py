"""The node of a page, those of its parts, and the hash of what each says."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from ingest.parse.outline import OutlineSection
from ingest.parse.page_facts import PageFacts, PagePart
from ingest.parse.page_graph import PageGraph
from ingest.session_ids import without_session
from schemas.edges import LinkPosition
from schemas.fragment import Link
from schemas.hashing import record_sha256
from schemas.nodes import Page, Section


def page_node(graph: PageGraph, facts: PageFacts, content_hash: str) -> Page:
    """Return the node of the document itself."""
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
