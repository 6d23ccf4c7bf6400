"""Paragraphs that the end of a page cuts in two."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from schemas.nodes import Chunk, PdfRegion, RegionType

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
