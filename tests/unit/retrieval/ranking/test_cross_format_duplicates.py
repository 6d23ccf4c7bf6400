"""What the PDF of a manual says that its HTML says already."""

from dataclasses import replace

import pytest

from retrieval.ranking import duplicates
from retrieval.ranking.duplicates import find_twins, says_all_of
from retrieval.ranking.score import Scored
from retrieval.ranking.selection import select_evidence
from retrieval.retriever import Retriever
from schemas.evidence import Origin, Query, Scores
from schemas.nodes import Chunk
from tests.fakes.small_index import AS_OF, GENERATION, build_index, page, pdf

ROW = "--keep-days DAYS | Days for which a night copy is kept before it is thrown away; the default is 14."
PRINTED = (
    "--keep-days DAYS Days for which a night copy is kept be-\nfore it is thrown away; the default is 14.\n"
    "--keep-last Whether the last copy of each lamp is kept in any case (see Section 4.2 [Copies], page 31)."
)
NOTED = (
    "Whoever comes late rings the bell1 and then waits at the door of the lodge until the porter opens it."
)


@pytest.mark.parametrize(
    ("whole", "part", "told"),
    [
        (PRINTED, ROW, True),
        (ROW, PRINTED, False),
        (PRINTED, ROW.replace("14", "30"), False),
        (PRINTED, ROW.replace("is kept", "is not kept"), False),
        (NOTED.replace("1", ""), NOTED, True),
        (NOTED, NOTED.replace("bell1", "bell"), True),
        ("- Ring the bell twice.\n- Wait for the night porter.", "2. Wait for the night porter.", True),
        ("See Copies for more of it all.", "See Section 4.2 [Copies], page 7, for more of it all.", True),
        ("Up to 4 lamps are lit.", "Up to 4.2 lamps are lit.", False),
        (ROW.replace("is kept", "is int"), ROW.replace("is kept", "is int32"), False),
        (ROW + " The default is true.", ROW + " The default is false.", False),
        ("Nothing else stands here.", "sits here", False),
        ("Nothing.", "", False),
    ],
)
def test_a_passage_says_all_of_another_if_its_words_numbers_and_negations_are_there(
    whole: str, part: str, told: bool
) -> None:
    assert says_all_of(whole, part) is told


def scored(*chunks: Chunk) -> list[Scored]:
    return [Scored(chunk=one, scores=Scores(), source=Origin.VECTOR, role="rest") for one in chunks]


def test_only_passages_of_another_format_are_twins_and_the_fuller_one_has_the_other() -> None:
    row, printed = page("copies", {"Copies": ROW})[1][0], pdf("copies", [(4, PRINTED)])[1][0]
    again = replace(printed, id="chunk:again")
    assert find_twins(scored(row, printed, again)) == {
        printed.id: frozenset({row.id}),
        again.id: frozenset({row.id}),
    }


def test_of_a_page_and_a_pdf_that_say_the_same_the_page_is_cited_at_the_better_place() -> None:
    row, printed = page("copies", {"Copies": ROW})[1][0], pdf("copies", [(4, ROW), (5, PRINTED)])[1]
    other = page("other", {"Other": "The lodge is closed on Sundays and on the days of the fair."})[1][0]
    order = [*scored(printed[0], other, row)]
    ranked = [replace(one, place=place) for place, one in enumerate(order)]

    def chosen(among: list[Scored]) -> list[str]:
        return [one.chunk.id for one in select_evidence(among, find_twins(among), top_k=5).chosen]

    assert chosen(ranked) == [row.id, other.id]
    fuller = [replace(ranked[0], chunk=printed[1]), *ranked[1:]]
    assert chosen(fuller) == [printed[1].id, other.id], "the page lacks half of it"
    older = [*ranked[:2], replace(ranked[2], chunk=replace(row, version="1.0"))]
    assert chosen(older) == [printed[0].id, other.id], "the page is of another version"


def test_a_short_row_is_a_twin_only_under_the_same_heading() -> None:
    row = page("copies", {"Copies": "default | 14 days"})[1][0]
    printed = pdf("copies", [(4, "Default 14 days")])[1][0]
    assert find_twins(scored(row, printed)) == {}
    assert find_twins(scored(row, replace(printed, heading_path=("Manual", "Copies")))) != {}


@pytest.mark.parametrize("use_graph", [True, False])
def test_a_row_of_a_manual_that_is_there_as_page_and_as_pdf_is_shown_once(use_graph: bool) -> None:
    others = page(
        "bells", {"Bells": "The bell is rung for copies that are kept.", "Coal": "Coal is kept, too."}
    )
    index = build_index(
        [page("copies", {"Copies": ROW}), pdf("copies", [(4, PRINTED.partition("\n--")[0])]), others], ()
    )
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    query = Query(text="For how many days is a night copy kept?", use_graph=use_graph)
    shown = [one for one in retriever.retrieve(query).evidence if "thrown away" in one.text]
    assert len(shown) == 1


def test_what_a_passage_tells_is_counted_once_however_many_it_is_compared_with() -> None:
    told = duplicates._telling
    told.cache_clear()
    texts = [f"Lamp {number} is dusted on day {number} of the month." for number in range(9)]
    assert [sum(says_all_of(one, other) for other in texts) for one in texts] == [1] * 9
    assert told.cache_info().misses == 9
