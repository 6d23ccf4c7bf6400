"""What of a parse looks wrong."""

from dataclasses import replace

from ingest.parse.html.trace import PASSED_OVER, BlockStatus
from schemas.nodes import BBox, PageSize, RegionType
from sitegraph.actions.inspection import BlockShown, ChunkShown, PageShown, RegionShown, find_doubts

CHUNK = ChunkShown(
    number=3,
    id="chunk:3",
    text="A lamp gives light.",
    tokens=4,
    heading_path=(),
    structure_confidence=1.0,
    in_parent=True,
    at_place=True,
    fragment="lamp",
)
BLOCK = BlockShown(
    text="x", verdict=BlockStatus.READ, reason="", element="div", level=0, words=30, voted=None, chunk=0
)
REGION = RegionShown(
    number=7, type=RegionType.HEADING, bbox=BBox(0, 0, 10, 10), heading_path=(), text="Lamps", chunks=(0,)
)
PAGE = PageShown(page_no=2, label=None, size=PageSize(600, 800), regions=(REGION,))


def doubts(
    *, chunk: ChunkShown = CHUNK, block: BlockShown = BLOCK, page: PageShown = PAGE
) -> list[tuple[str, str]]:
    found = find_doubts(chunks=[chunk], blocks=[block], pages=[page], noindex=False)
    return [(doubt.text, doubt.anchor) for doubt in found]


def test_a_sound_parse_has_none() -> None:
    assert doubts() == []


def test_chunks_that_are_not_where_they_say() -> None:
    assert doubts(chunk=replace(CHUNK, in_parent=False)) == [
        ("chunk 3: its text is not its section's or region's at its offsets", "c3")
    ]
    assert doubts(chunk=replace(CHUNK, at_place=False)) == [
        ("chunk 3: its fragment #lamp is no id of the page", "c3")
    ]
    assert doubts(chunk=replace(CHUNK, at_place=False, page_no=2)) == [
        ("chunk 3: its text is not on page 2 within its box", "c3")
    ]
    assert doubts(chunk=replace(CHUNK, at_place=None)) == []


def test_a_chunk_over_the_encoders_window() -> None:
    assert doubts(chunk=replace(CHUNK, tokens=251)) == [("chunk 3: 251 tokens are over 250", "c3")]


def test_text_that_was_voted_for_and_dropped_or_read_and_lost() -> None:
    outside = replace(BLOCK, verdict=BlockStatus.OUTSIDE, voted=20)
    assert doubts(block=outside) == [
        ("30 words in div: not read, though trafilatura took it for content", "b0")
    ]
    assert doubts(block=replace(outside, voted=19)) == []
    assert doubts(block=replace(BLOCK, lost=True)) == [("30 words in div: read, and in no chunk", "b0")]
    assert doubts(block=replace(BLOCK, lost=True, words=2)) == []


def test_elements_of_one_tag_that_the_vote_cut_one_by_one() -> None:
    cut = replace(BLOCK, verdict=BlockStatus.LEFT_OUT, reason=PASSED_OVER, element="dt#all.term", words=2)
    found = find_doubts(chunks=[CHUNK], blocks=[BLOCK, *[cut] * 5], pages=[PAGE], noindex=False)
    assert [(doubt.text, doubt.anchor) for doubt in found] == [
        ("5 elements dt (10 words): cut, since trafilatura passed them over", "b1")
    ]
    fewer = [*[cut] * 4, replace(cut, element="div.share"), replace(cut, reason="hidden from readers")]
    assert find_doubts(chunks=[CHUNK], blocks=fewer, pages=[PAGE], noindex=False) == ()


def test_regions_that_cannot_be() -> None:
    off = replace(PAGE, regions=(replace(REGION, bbox=BBox(-5, 0, 10, 10)),))
    long = replace(PAGE, regions=(replace(REGION, text="lamp " * 40),))
    assert doubts(page=off) == [("page 2, region 7: its box lies off the page", "r7")]
    assert doubts(page=long) == [("page 2, region 7: a heading of 200 characters", "r7")]
    assert doubts(page=replace(PAGE, regions=())) == [("page 2: no region", "p2")]


def test_a_document_without_chunks_unless_it_asked_for_that() -> None:
    (doubt,) = find_doubts(chunks=[], blocks=[], pages=[], noindex=False)
    assert "no chunk" in doubt.text
    assert find_doubts(chunks=[], blocks=[], pages=[], noindex=True) == ()
