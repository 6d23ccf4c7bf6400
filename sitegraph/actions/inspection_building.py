"""A parse becomes an inspection: where each block of its text went, and what is shown of it; pure."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ingest.parse.html.trace import BlockStatus, PageTrace, TracedBlock
from ingest.parse.inspection import Inspection
from ingest.parse.page_kind import NO_PASSAGES
from schemas.edges import EdgeKind
from schemas.fragment import GraphFragment
from schemas.nodes import Page, PdfPage, PdfRegion, RegionType, Section, is_document
from schemas.records import show_as
from sitegraph.actions.inspection import (
    BlockShown,
    ChapterShown,
    ChunkShown,
    ContentFound,
    Hints,
    PageShown,
    RegionShown,
    Report,
    SectionShown,
    find_doubts,
)

_SHORT = 12
_NEAR = 4_000
"""Letters: a text that short is found everywhere, so it does not move the place from which the next is
sought, and each is sought this near to the one before first."""

_MOST_MISSES = 1_000
"""Texts sought in vain in a whole document, from which on the next are only sought near, for want of time."""

_NO_LETTER = re.compile(r"[\W_]+")


def place_blocks(
    page: PageTrace, chunks: Sequence[ChunkShown], sections: Sequence[SectionShown]
) -> tuple[BlockShown, ...]:
    """Find every block that was read among the chunks, or a heading among the sections, in order.

    Letters and digits alone are compared, since list marks, table rows and line breaks are made again. Of a
    document without chunks nothing is lost.
    """
    placer = _Placer(chunks, sections)
    return tuple(map(placer.place, page.blocks))


def _key(text: str) -> str:
    return _NO_LETTER.sub("", text).lower()


@dataclass(slots=True)
class _Placer:
    chunks: Sequence[ChunkShown]
    sections: Sequence[SectionShown]
    whole: str = field(init=False)
    starts: list[int] = field(init=False)
    headings: list[str] = field(init=False)
    cursor: int = 0
    section: int = 0
    misses: int = 0

    def __post_init__(self) -> None:
        keys = [_key(chunk.text) for chunk in self.chunks]
        self.whole = "".join(keys)
        self.starts = list(accumulate(map(len, keys[:-1]), initial=0))
        self.headings = [_key(section.heading) for section in self.sections]

    def place(self, block: TracedBlock) -> BlockShown:
        """Return the block as it is shown."""
        key = _key(block.text)
        sought = block.verdict is BlockStatus.READ and key != ""
        chunk, found = self._look_up(key, is_heading=block.level > 0) if sought else (None, True)
        lost = not found and bool(self.chunks)
        return show_as(BlockShown, block, element=block.culprit or block.place, chunk=chunk, lost=lost)

    def _look_up(self, key: str, *, is_heading: bool) -> tuple[int | None, bool]:
        """The chunk, and whether the text was found: a heading may head a section without a chunk."""
        if is_heading and self._heads_section(key):
            return next(iter(self.sections[self.section].chunks), None), True
        chunk = self._chunk_of(key)
        return chunk, chunk is not None

    def _heads_section(self, key: str) -> bool:
        """A heading may have lost its number: the section's is its end."""
        for number in self._in_turn():
            heading = self.headings[number]
            if heading and key.endswith(heading):
                self.section = number
                return True
        return False

    def _in_turn(self) -> Iterator[int]:
        after = min(self.section + 1, len(self.headings))
        yield from range(after, len(self.headings))
        yield from range(after)

    def _chunk_of(self, key: str) -> int | None:
        """The chunk that contains the text, or most of it: cells and notes may stand between its parts."""
        most = len(key) * 2 // 3
        for part in dict.fromkeys((key, key[:most], key[-most:])):
            at = self._find(part)
            if at >= 0:
                if len(part) >= _SHORT:
                    self.cursor = at + len(part)
                return bisect_right(self.starts, at) - 1
        self.misses += 1
        return None

    def _find(self, key: str) -> int:
        """Where the text is: soon after the one before, else shortly before it, else anywhere."""
        if not key:
            return -1
        near = (self.cursor, self.cursor + _NEAR), (max(0, self.cursor - _NEAR), self.cursor + _NEAR)
        ranges = (*near, (0, len(self.whole))) if self.misses < _MOST_MISSES else near
        found = (self.whole.find(key, *bounds) for bounds in ranges)
        return next((at for at in found if at >= 0), -1)


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
    fragment, page = inspection.fragment, inspection.page
    assert fragment.kind is not None  # only a file of tools has none
    document = next(node for node in fragment.nodes if is_document(node))
    is_index = any(warning.endswith(NO_PASSAGES) for warning in fragment.warnings)
    chunks, pages = _chunks(inspection), _pages(fragment, _numbers(fragment, "region_id"))
    sections = _sections(fragment, _numbers(fragment, "section_id"))
    blocks = place_blocks(page, chunks, sections) if page else ()
    doubts = find_doubts(
        chunks=chunks,
        blocks=blocks,
        pages=pages,
        coverage=fragment.coverage,
        noindex=fragment.noindex or is_index,
    )
    references = tuple(f"{one.kind.value} {one.target}" for one in fragment.references)
    return show_as(
        Report,
        fragment,
        address=address,
        notes=tuple(notes),
        doubts=doubts,
        hints=show_as(Hints, fragment, references=references),
        chunks=chunks,
        lang=document.lang,
        last_modified=fragment.modified.at if fragment.modified else None,
        last_modified_origin=fragment.modified.origin if fragment.modified else None,
        template_type=document.template_type if isinstance(document, Page) else None,
        breadcrumbs=document.breadcrumbs if isinstance(document, Page) else (),
        content=show_as(ContentFound, page, element=page.content) if page else None,
        chapters=_chapters(fragment),
        sections=sections,
        blocks=blocks,
        pages=pages,
        cleaning=page.cleaning if page else (),
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
        show_as(
            ChunkShown,
            chunk,
            number=number,
            tokens=chunk.token_count,
            in_parent=trip.in_parent,
            at_place=trip.at_place,
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
        show_as(
            SectionShown,
            node,
            number=node.ordinal,
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
            chunks = numbers.get(node.id, ())
            reason = "" if chunks else _reason(node)
            of_node = {"number": node.ordinal, "type": node.region_type, "chunks": chunks, "reason": reason}
            regions[node.page_no].append(show_as(RegionShown, node, **of_node))
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


def _reason(node: PdfRegion) -> str:
    said = _CONTENTS if any(map(str.isalnum, node.text)) else _SIGNS
    return _SILENT.get(node.region_type, said)
