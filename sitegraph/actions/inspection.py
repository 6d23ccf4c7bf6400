"""What `inspect` says of one document, as values, and what in it looks wrong."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.parse.chunking import MAX_TOKENS
from ingest.parse.html.trace import PASSED_OVER, BlockStatus, CleaningStep
from schemas.fragment import Link, WordCoverage
from schemas.nodes import BBox, DateOrigin, PageSize, RegionType


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the document says about itself to robots and indexes."""

    noindex: bool = False
    nofollow: bool = False
    canonical: str | None = None
    refresh: str | None = None
    alternates: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFound:
    """Where the content of an HTML page was found and how."""

    family: str
    purpose: str
    decided_by: str
    element: str
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkShown:
    """A chunk; `number` counts from 0 in reading order.

    `in_parent`, `at_place`: whether its text is in its section or region, and whether what it cites is
    there (None: it cites no place that could be looked up).
    """

    number: int
    id: str
    text: str
    tokens: int
    heading_path: tuple[str, ...]
    structure_confidence: float
    in_parent: bool
    at_place: bool | None
    fragment: str | None = None
    page_no: int | None = None
    bbox: BBox | None = None
    captions: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionShown:
    """A heading and what stands under it; `chunks` are numbers."""

    number: int
    heading: str
    level: int
    heading_path: tuple[str, ...]
    fragment: str | None
    words: int
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterShown:
    """A chapter of a book, and the numbers of its sections."""

    title: str
    fragment: str | None
    sections: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionShown:
    """A region of a PDF page; `number` is its place in reading order. Without chunks, `reason` says why."""

    number: int
    type: RegionType
    bbox: BBox
    heading_path: tuple[str, ...]
    text: str
    chunks: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageShown:
    """A page of a PDF with its regions in reading order."""

    page_no: int
    label: str | None
    size: PageSize
    regions: tuple[RegionShown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShown:
    """A stretch of an HTML page's text and what became of it.

    `chunk` is the number of the chunk that it, or what stands under it, is in; None for what is not read and
    for what is `lost`: read, and in no chunk. `voted` counts its words that trafilatura took for content.
    """

    text: str
    verdict: BlockStatus
    reason: str
    element: str
    level: int
    words: int
    voted: int | None
    chunk: int | None = None
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Something that looks like a wrong parse; `anchor` is where in the report."""

    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that is shown of one document, without pictures."""

    address: str
    kind: str
    title: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    hints: Hints
    chunks: tuple[ChunkShown, ...]
    links: tuple[Link, ...]
    doc_id: str | None = None
    lang: str | None = None
    last_modified: str | None = None
    last_modified_origin: DateOrigin | None = None
    template_type: str | None = None
    breadcrumbs: tuple[str, ...] = ()
    content: ContentFound | None = None
    chapters: tuple[ChapterShown, ...] = ()
    sections: tuple[SectionShown, ...] = ()
    blocks: tuple[BlockShown, ...] = ()
    pages: tuple[PageShown, ...] = ()
    cleaning: tuple[CleaningStep, ...] = ()
    coverage: WordCoverage | None = None


_VOTED_WORDS = 20
"""Words in one dropped stretch that trafilatura took for content, from which on that is worth a look."""

_MANY_CUT = 5
"""Elements of one tag cut by the vote, from which on they may be terms or notes, not boilerplate."""

_TAG = re.compile(r"\w+")
_LOST_WORDS = 3
_LONG_HEADING = 150
_OFF_PAGE = 1.0


def find_doubts(
    *,
    chunks: Sequence[ChunkShown],
    blocks: Sequence[BlockShown],
    pages: Sequence[PageShown],
    coverage: WordCoverage | None = None,
    noindex: bool,
) -> tuple[Doubt, ...]:
    """List what is likely wrong, of the whole document first, then in its order."""
    whole = (
        [] if chunks or noindex else [Doubt(text="nothing of this document can be found: it has no chunk")]
    )
    if coverage is not None and coverage.is_notable:
        whole.append(Doubt(text=coverage.told_loss))
    return (
        *whole,
        *_of_chunks(chunks),
        *_of_blocks(blocks),
        *_of_what_was_passed_over(blocks),
        *_of_pages(pages),
    )


def _of_chunks(chunks: Sequence[ChunkShown]) -> Iterator[Doubt]:
    for chunk in chunks:
        name, anchor = f"chunk {chunk.number}", f"c{chunk.number}"
        if not chunk.in_parent:
            yield Doubt(
                text=f"{name}: its text is not its section's or region's at its offsets", anchor=anchor
            )
        if chunk.at_place is False and chunk.page_no is not None:
            yield Doubt(text=f"{name}: its text is not on page {chunk.page_no} within its box", anchor=anchor)
        elif chunk.at_place is False:
            yield Doubt(text=f"{name}: its fragment #{chunk.fragment} is no id of the page", anchor=anchor)
        if chunk.tokens > MAX_TOKENS:
            yield Doubt(text=f"{name}: {chunk.tokens} tokens are over {MAX_TOKENS}", anchor=anchor)


def _of_blocks(blocks: Sequence[BlockShown]) -> Iterator[Doubt]:
    for number, block in enumerate(blocks):
        anchor, about = f"b{number}", f"{block.words} words in {block.element}"
        if block.verdict is not BlockStatus.READ and (block.voted or 0) >= _VOTED_WORDS:
            yield Doubt(text=f"{about}: not read, though trafilatura took it for content", anchor=anchor)
        if block.lost and block.words >= _LOST_WORDS:
            yield Doubt(text=f"{about}: read, and in no chunk", anchor=anchor)


def _of_what_was_passed_over(blocks: Sequence[BlockShown]) -> Iterator[Doubt]:
    """One doubt for each tag: cut one by one, each element alone is too short to be noticed."""
    cut: dict[str, list[int]] = {}
    for number, block in enumerate(blocks):
        found = _TAG.match(block.element)
        if block.reason == PASSED_OVER and found is not None:
            cut.setdefault(found[0], []).append(number)
    for tag, numbers in cut.items():
        if len(numbers) >= _MANY_CUT:
            words = sum(blocks[number].words for number in numbers)
            about = f"{len(numbers)} elements {tag} ({words} words)"
            yield Doubt(text=f"{about}: cut, since trafilatura passed them over", anchor=f"b{numbers[0]}")


def _of_pages(pages: Sequence[PageShown]) -> Iterator[Doubt]:
    for page in pages:
        if not page.regions:
            yield Doubt(text=f"page {page.page_no}: no region", anchor=f"p{page.page_no}")
        for region in page.regions:
            name, anchor = f"page {page.page_no}, region {region.number}", f"r{region.number}"
            if _is_off(region.bbox, page.size):
                yield Doubt(text=f"{name}: its box lies off the page", anchor=anchor)
            if region.type == "heading" and len(region.text) > _LONG_HEADING:
                yield Doubt(text=f"{name}: a heading of {len(region.text)} characters", anchor=anchor)


def _is_off(box: BBox, size: PageSize) -> bool:
    return (
        min(box.x0, box.y0) < -_OFF_PAGE
        or box.x1 > size.width + _OFF_PAGE
        or box.y1 > size.height + _OFF_PAGE
    )
