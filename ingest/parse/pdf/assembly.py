"""Pages and regions of a PDF > nodes, edges and chunks, with paragraphs joined across pages."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from ingest.parse.chunk_spans import ChunkSpan
from ingest.parse.chunking import CountTokens, extract_codes
from ingest.parse.links import CollectedLinks, place_links
from ingest.parse.page_graph import DocumentGraph
from ingest.parse.pdf.captions import Region
from ingest.parse.pdf.landing import InnerLink, TextPlace
from ingest.parse.pdf.lines import Line
from ingest.parse.pdf.page import PageContent
from ingest.parse.pdf.reading import mean_confidence, recognised_lines
from schemas.edges import EdgeKind, LinkPosition
from schemas.fragment import GraphFragment, Link, LinkPlace, ParseRequest
from schemas.ids import (
    Occurrences,
    normalise_text,
    pdf_doc_id,
    pdf_page_id,
    pdf_region_id,
    record_sha256,
)
from schemas.nodes import BBox, Chunk, Dated, DocumentKind, PdfDoc, PdfPage, PdfRegion, RegionType

_PROSE = frozenset({RegionType.PARAGRAPH, RegionType.LIST})
_SENTENCE_END = (".", "!", "?", ":", ";", "。", "”", '"', ")")


def find_continued(chunks: Sequence[Chunk], regions: Sequence[PdfRegion]) -> Iterator[tuple[str, str]]:
    """Return the chunks, by id, that go on with another on the next page: a sentence runs over the end.

    Tables, pictures and captions at the top or the foot of a page stand between the two and do not count.
    """
    prose = {region.id for region in regions if region.region_type in _PROSE}
    by_page: dict[int, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        if chunk.page_no is not None and chunk.region_id in prose:
            by_page[chunk.page_no].append(chunk)
    for page_no, next_page in pairwise(sorted(by_page)):
        last, first = by_page[page_no][-1], by_page[next_page][0]
        if next_page == page_no + 1 and _runs_over(last, first):
            yield last.id, first.id


def _runs_over(last: Chunk, first: Chunk) -> bool:
    return (
        last.heading_path == first.heading_path
        and not last.text.endswith(_SENTENCE_END)
        and first.text[:1].islower()
    )


_MARGINS = frozenset({RegionType.HEADER, RegionType.FOOTER})
_CAPTIONED = frozenset({RegionType.TABLE, RegionType.FIGURE})


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfFacts:
    """What is known of a PDF besides its pages and regions."""

    title: str
    file_id: str
    page_count: int
    lang: str | None = None
    modified: Dated | None = None
    warnings: tuple[str, ...] = ()
    noindex: bool = False
    nofollow: bool = False


@dataclass(slots=True, kw_only=True)
class _PdfGraph(DocumentGraph):
    facts: PdfFacts
    recognised: Mapping[tuple[int, BBox], Line] = field(default_factory=dict)
    pages: dict[int, PdfPage] = field(default_factory=dict)
    regions: list[PdfRegion] = field(default_factory=list)
    cut: dict[int, list[tuple[ChunkSpan, str]]] = field(default_factory=dict)

    def place_of(self, place: TextPlace) -> LinkPlace | None:
        """The chunk of a region that a link in its text stands in."""
        for span, chunk in self.cut.get(place.region, ()):
            if span.start <= place.offset < span.end:
                return LinkPlace(chunk=chunk, offset=span.offset_of(place.offset) if place.exact else None)
        return None


def assemble_pdf(
    pages: Sequence[PageContent],
    regions: Sequence[Region],
    links: CollectedLinks,
    inner_links: Sequence[tuple[InnerLink, int]],
    *,
    request: ParseRequest,
    facts: PdfFacts,
    count_tokens: CountTokens,
) -> GraphFragment:
    """Return the fragment of a PDF; a `noindex` one is its PdfDoc node alone.

    Ids of regions and chunks come from content, so an inserted page moves none of them.
    """
    graph = _PdfGraph(
        request=request, facts=facts, doc=pdf_doc_id(request.uri), recognised=recognised_lines(pages)
    )
    if not facts.noindex:
        _add_pages(graph, pages, regions)
        _add_regions(graph, regions, count_tokens)
        for src, dst in find_continued(graph.chunks, graph.regions):
            graph.join(EdgeKind.NEXT, src, dst)
        _link_inside(graph, inner_links)
    document = _document(graph, _content_hash(regions, links.links, inner_links, facts.title))
    return GraphFragment(
        uri=request.uri,
        doc=graph.doc,
        kind=DocumentKind.PDF,
        content_hash=document.content_hash,
        nodes=(document, *graph.pages.values(), *graph.regions, *graph.chunk_nodes()),
        edges=tuple(graph.edges),
        chunks=tuple(graph.chunks),
        links=place_links(links.links, _placed(graph, links)),
        title=facts.title,
        noindex=facts.noindex,
        nofollow=facts.nofollow,
        warnings=facts.warnings,
        modified=facts.modified,
    )


def _placed(graph: _PdfGraph, links: CollectedLinks) -> Iterator[tuple[Link, LinkPlace]]:
    for key, link in links.by_key.items():
        match key:
            case (TextPlace() as place, *_) if found := graph.place_of(place):
                yield link, found


def _content_hash(
    regions: Sequence[Region],
    links: tuple[Link, ...],
    inner_links: Sequence[tuple[InnerLink, int]],
    title: str,
) -> str:
    """Hash what a reader sees, in reading order, without running headers and footers, and where it leads."""
    seen = [_seen(region) for region in regions if region.type not in _MARGINS]
    targets = {(link.target, link.fragment or "") for link in links if link.position is LinkPosition.BODY}
    inner = {
        (
            link.text,
            link.name or "",
            "" if link.to_region is None else regions[link.to_region].joined.text[:99],
        )
        for link, _ in inner_links
        if link.position is LinkPosition.BODY
    }
    return record_sha256(
        {"title": title, "regions": seen, "links": sorted(targets), "inner_links": sorted(inner)}
    )


def _seen(region: Region) -> list[str]:
    return [region.type, region.joined.text, region.digest]


def _document(graph: _PdfGraph, content_hash: str) -> PdfDoc:
    facts = graph.facts
    return PdfDoc(
        id=graph.doc,
        title=facts.title,
        content_hash=content_hash,
        file_id=facts.file_id,
        page_count=facts.page_count,
        path=graph.request.path,
        **graph.stated(facts.lang),
    )


def _add_pages(graph: _PdfGraph, pages: Sequence[PageContent], regions: Sequence[Region]) -> None:
    seen: dict[int, list[list[str]]] = {}
    for region in regions:
        if region.type not in _MARGINS:
            seen.setdefault(region.page_no, []).append(_seen(region))
    for page in pages:
        node = PdfPage(
            id=pdf_page_id(graph.doc, page.page_no),
            doc=graph.doc,
            source=graph.request.source,
            page_no=page.page_no,
            page_size=page.size,
            page_label=page.label,
            content_hash=record_sha256(seen.get(page.page_no, [])),
        )
        graph.pages[page.page_no] = node
        graph.join(EdgeKind.CONTAINS, graph.doc, node.id)


def _add_regions(graph: _PdfGraph, regions: Sequence[Region], count_tokens: CountTokens) -> None:
    of_regions = Occurrences()
    base = graph.blank_chunk(DocumentKind.PDF, graph.facts.lang, file_id=graph.facts.file_id)
    for ordinal, region in enumerate(regions):
        node = _region_node(graph, region, ordinal, of_regions)
        graph.regions.append(node)
        graph.join(EdgeKind.CONTAINS, graph.pages[region.page_no].id, node.id)
        for span in region.spans:
            chunk = replace(base, **_said(graph, region, node, span, count_tokens))
            graph.add_chunk(chunk, cut_from=node.id)
            graph.cut.setdefault(ordinal, []).append((span, chunk.id))


def _region_node(graph: _PdfGraph, region: Region, ordinal: int, occurrences: Occurrences) -> PdfRegion:
    # A picture has no text; its pixels tell it from the others.
    content = region.joined.text or region.digest
    number = occurrences.number(region.type, normalise_text(content))
    return PdfRegion(
        id=pdf_region_id(graph.doc, region.type, content, number),
        doc=graph.doc,
        source=graph.request.source,
        region_type=region.type,
        content_hash=record_sha256([region.heading_path, *_seen(region)]),
        page_no=region.page_no,
        bbox=region.bbox,
        text=region.joined.text,
        ordinal=ordinal,
        heading_path=region.heading_path,
        caption=region.caption or None if region.type in _CAPTIONED else None,
        ocr_conf=_confidence(graph, region, 0, len(region.joined.text)),
    )


def _confidence(graph: _PdfGraph, region: Region, start: int, end: int) -> float | None:
    return mean_confidence(graph.recognised, region.page_no, region.joined, start, end)


def _said(
    graph: _PdfGraph, region: Region, node: PdfRegion, span: ChunkSpan, count_tokens: CountTokens
) -> dict[str, Any]:
    """Return the fields of a chunk that follow from its region and its place there."""
    headings, page = region.heading_path, graph.pages[region.page_no]
    text = span.text_of(region.joined.text)
    captions = (region.caption,) if region.caption else ()
    return graph.said((*headings, *region.terms), text, captions, count_tokens) | {
        "ordinal": len(graph.chunks),
        "offsets": (span.start, span.end),
        "breadcrumbs": (graph.facts.title, *headings[:-1]),
        "parent_ids": (graph.doc, page.id, node.id),
        "section": headings[-1] if headings else None,
        "region_id": node.id,
        "page_no": region.page_no,
        "bbox": region.joined.bbox(span.start, span.end),
        "page_size": page.page_size,
        "codes": extract_codes("\n".join((*region.terms, region.number, text))),
        "ocr_conf": _confidence(graph, region, span.start, span.end),
        "structure_confidence": region.confidence,
    }


def _link_inside(graph: _PdfGraph, links: Sequence[tuple[InnerLink, int]]) -> None:
    for inner, count in links:
        src = graph.pages[inner.page_no].id if inner.region is None else graph.regions[inner.region].id
        dst = graph.pages[inner.to_page].id if inner.to_region is None else graph.regions[inner.to_region].id
        link = Link(target="", text=inner.text, position=inner.position, fragment=inner.name, count=count)
        graph.link(src, dst, link, graph.place_of(inner.stands) if inner.stands else None)
