"""Blocks of a page found among its chunks."""

from collections.abc import Sequence

from ingest.parse.html.trace import BlockStatus, PageTrace, TracedBlock
from sitegraph.actions.inspection import ChunkShown, SectionShown
from sitegraph.actions.inspection_building import place_blocks


def chunk(number: int, text: str) -> ChunkShown:
    return ChunkShown(
        number=number,
        id=f"chunk:{number}",
        text=text,
        tokens=len(text.split()),
        heading_path=(),
        structure_confidence=1.0,
        in_parent=True,
        at_place=True,
    )


def section(number: int, heading: str, chunks: tuple[int, ...]) -> SectionShown:
    return SectionShown(
        number=number,
        heading=heading,
        level=2,
        heading_path=(heading,),
        fragment=None,
        words=1,
        chunks=chunks,
    )


def placed(
    blocks: Sequence[tuple[str, int]],
    chunks: Sequence[str],
    sections: Sequence[SectionShown] = (),
    *,
    verdict: BlockStatus = BlockStatus.READ,
) -> list[tuple[int | None, bool]]:
    page = PageTrace(
        family="plain",
        purpose="other",
        decided_by="body",
        content="body",
        explanation="",
        blocks=tuple(
            TracedBlock(text=text, verdict=verdict, place="p", level=level, words=len(text.split()))
            for text, level in blocks
        ),
    )
    shown = place_blocks(page, [chunk(n, text) for n, text in enumerate(chunks)], sections)
    return [(block.chunk, block.lost) for block in shown]


def test_marks_and_line_breaks_make_no_difference() -> None:
    assert placed([("oil\nwick", 0), ("one two", 0)], ["- Oil\n- wick", "one | two"]) == [
        (0, False),
        (1, False),
    ]


def test_a_text_that_is_cut_in_two_is_found_where_most_of_it_is() -> None:
    text = "the lamp is filled with oil, and then its wick is cut to length"
    assert placed([(text, 0)], ["nothing of it", text[:50], text[50:]]) == [(1, False)]


def test_what_is_in_no_chunk_is_lost() -> None:
    assert placed([("a lamp gives light", 0), ("nobody has this", 0)], ["A lamp gives light."]) == [
        (0, False),
        (None, True),
    ]


def test_nothing_is_lost_of_a_document_without_chunks_or_where_nothing_was_read() -> None:
    assert placed([("a lamp gives light", 0)], []) == [(None, False)]
    assert placed([("a menu of lamps", 0)], ["other"], verdict=BlockStatus.OUTSIDE) == [(None, False)]


def test_a_heading_leads_to_its_section_with_or_without_its_number() -> None:
    sections = [section(0, "Lamps", (0,)), section(1, "Oil", (1, 2)), section(2, "Empty", ())]
    found = placed([("9.2. Lamps", 2), ("Oil", 2), ("Empty", 2)], ["x", "y", "z"], sections)
    assert found == [(0, False), (1, False), (None, False)]


def test_equal_short_texts_are_found_in_turn() -> None:
    filler = "so much stands between them " * 20
    blocks = [("yes", 0), (filler, 0), ("yes", 0)]
    assert placed(blocks, ["yes", filler, "yes"]) == [(0, False), (1, False), (2, False)]
