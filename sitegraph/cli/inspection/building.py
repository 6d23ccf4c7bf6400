"""An inspection becomes what is shown of it; pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ingest.parse.html.traced import PageTrace
from ingest.parse.inspection import Inspection
from ingest.parse.page_kind import NO_PASSAGES
from schemas.edges import EdgeKind
from schemas.fragment import GraphFragment
from schemas.nodes import Page, PdfPage, PdfRegion, RegionType, Section, is_document
from sitegraph.cli.inspection.doubts import find_doubts
from sitegraph.cli.inspection.placing import place_blocks
from sitegraph.cli.inspection.report import (
    ChapterShown,
    ChunkShown,
    ContentFound,
    Hints,
    PageShown,
    RegionShown,
    Report,
    SectionShown,
)

_SILENT = {
    RegionType.HEADER: "running header: returns at the top of other pages",
    RegionType.FOOTER: "running footer: returns at the bottom of other pages, or is a page number",
    RegionType.HEADING: "stands in the heading path of what follows",
    RegionType.FIGURE: "a picture, which has no text",
    RegionType.FORMULA: "said by the text around it",
}
_CONTENTS = "a line of a table of contents or an index"
_SIGNS = "signs without a letter or digit"


def build_report(inspection: Inspection, *, address: str, notes: Sequence[str] = ()) -> Report:
    """Return the report of one document; *notes* say how it was come by."""
    fragment = inspection.fragment
    assert fragment.kind is not None  # only a file of tools has none
    document = next(node for node in fragment.nodes if is_document(node))
    is_index = any(warning.endswith(NO_PASSAGES) for warning in fragment.warnings)
    chunks = _chunks(inspection)
    sections = _sections(fragment, _numbers(fragment, "section_id"))
    pages = _pages(fragment, _numbers(fragment, "region_id"))
    blocks = place_blocks(inspection.page, chunks, sections) if inspection.page else ()
    return Report(
        address=address,
        kind=fragment.kind,
        title=fragment.title,
        notes=tuple(notes),
        warnings=fragment.warnings,
        doubts=find_doubts(
            chunks=chunks,
            blocks=blocks,
            pages=pages,
            coverage=fragment.coverage,
            noindex=fragment.noindex or is_index,
        ),
        hints=_hints(fragment),
        chunks=chunks,
        links=fragment.links,
        doc_id=fragment.doc_id,
        lang=document.lang,
        last_modified=fragment.modified.at if fragment.modified else None,
        last_modified_origin=fragment.modified.origin if fragment.modified else None,
        template_type=document.template_type if isinstance(document, Page) else None,
        breadcrumbs=document.breadcrumbs if isinstance(document, Page) else (),
        content=_content(inspection.page),
        chapters=_chapters(fragment),
        sections=sections,
        blocks=blocks,
        pages=pages,
        cleaning=inspection.page.cleaning if inspection.page else (),
        coverage=fragment.coverage,
    )


def _hints(fragment: GraphFragment) -> Hints:
    return Hints(
        noindex=fragment.noindex,
        nofollow=fragment.nofollow,
        canonical=fragment.canonical,
        refresh=fragment.refresh,
        alternates=fragment.alternates,
        references=tuple(f"{one.kind.value} {one.target}" for one in fragment.references),
    )


def _content(page: PageTrace | None) -> ContentFound | None:
    if page is None:
        return None
    return ContentFound(
        family=page.family,
        purpose=page.purpose,
        decided_by=page.decided_by,
        element=page.content,
        explanation=page.explanation,
    )


def _numbers(fragment: GraphFragment, parent: str) -> Mapping[str, tuple[int, ...]]:
    """Numbers of the chunks by the id of the section or region they were cut from."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, chunk in enumerate(fragment.chunks):
        numbers[getattr(chunk, parent) or ""].append(number)
    return {id_: tuple(found) for id_, found in numbers.items()}


def _chunks(inspection: Inspection) -> tuple[ChunkShown, ...]:
    pairs = zip(inspection.fragment.chunks, inspection.round_trips, strict=True)
    return tuple(
        ChunkShown(
            number=number,
            id=chunk.id,
            text=chunk.text,
            tokens=chunk.token_count,
            heading_path=chunk.heading_path,
            structure_confidence=chunk.structure_confidence,
            in_parent=trip.in_parent,
            at_place=trip.at_place,
            fragment=chunk.fragment,
            page_no=chunk.page_no,
            bbox=chunk.bbox,
            captions=chunk.captions,
            codes=chunk.codes,
        )
        for number, (chunk, trip) in enumerate(pairs)
    )


def _chapters(fragment: GraphFragment) -> tuple[ChapterShown, ...]:
    ordinals = {node.id: node.ordinal for node in fragment.nodes if isinstance(node, Section)}
    sections: dict[str, list[int]] = defaultdict(list)
    for edge in fragment.edges:
        if edge.kind is EdgeKind.CONTAINS and edge.dst in ordinals:
            sections[edge.src].append(ordinals[edge.dst])
    return tuple(
        ChapterShown(title=node.title, fragment=node.fragment, sections=tuple(sections[node.id]))
        for node in fragment.nodes
        if isinstance(node, Page) and not is_document(node)
    )


def _sections(fragment: GraphFragment, numbers: Mapping[str, tuple[int, ...]]) -> tuple[SectionShown, ...]:
    return tuple(
        SectionShown(
            number=node.ordinal,
            heading=node.heading,
            level=node.level,
            heading_path=node.heading_path,
            fragment=node.fragment,
            words=len(node.text.split()),
            chunks=numbers.get(node.id, ()),
        )
        for node in fragment.nodes
        if isinstance(node, Section)
    )


def _pages(fragment: GraphFragment, numbers: Mapping[str, tuple[int, ...]]) -> tuple[PageShown, ...]:
    regions: dict[int, list[RegionShown]] = defaultdict(list)
    for node in fragment.nodes:
        if isinstance(node, PdfRegion):
            regions[node.page_no].append(_region(node, numbers.get(node.id, ())))
    return tuple(
        PageShown(
            page_no=node.page_no,
            label=node.page_label,
            size=node.page_size,
            regions=tuple(regions[node.page_no]),
        )
        for node in fragment.nodes
        if isinstance(node, PdfPage)
    )


def _region(node: PdfRegion, chunks: tuple[int, ...]) -> RegionShown:
    return RegionShown(
        number=node.ordinal,
        type=node.region_type,
        bbox=node.bbox,
        heading_path=node.heading_path,
        text=node.text,
        chunks=chunks,
        reason="" if chunks else _reason(node),
    )


def _reason(node: PdfRegion) -> str:
    said = _CONTENTS if any(map(str.isalnum, node.text)) else _SIGNS
    return _SILENT.get(node.region_type, said)
