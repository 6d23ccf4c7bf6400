"""What link texts say for a passage."""

from dataclasses import replace

import pytest

from retrieval.ranking.candidates import OUTGOING, weigh_anchors
from schemas.edges import Edge, LinkPosition
from schemas.nodes import Chunk
from tests.fakes.small_index import link, page

TARGET = page("target", {"Target": "text of the target", "Deep": "text further down"})[1]
OTHER = page("other", {"Other": "text of another"})[1][0]


def hit(query: str, chunk: Chunk, *links: Edge, rows: tuple[Chunk, ...] = ()) -> float:
    return weigh_anchors(query, (chunk, *rows), links).of(chunk)


@pytest.mark.parametrize(
    ("anchors", "score"),
    [
        (("base backup",), 1.0),
        (("the base backup",), 1.0),
        (("here", "more", "Next", "previous"), 0.0),
        (("backup",), 2 / 3),
        (("unrelated", "base backup guide"), 0.8),
        ((), 0.0),
    ],
)
def test_the_best_f1_of_the_texts_of_links_into_a_passage_counts(
    anchors: tuple[str, ...], score: float
) -> None:
    rows = tuple(
        replace(TARGET[0], anchor_texts=(text,)) for text in ("base", "backup", "guide", "unrelated")
    )
    chunk = replace(TARGET[0], heading_path=(), anchor_texts=anchors)
    once = weigh_anchors("What is a base backup?", rows, ())  # each word in one candidate: all weigh the same
    assert once.of(chunk) == pytest.approx(0.6 * score)


def test_a_word_that_every_candidate_has_weighs_little() -> None:
    rows = tuple(replace(OTHER, heading_path=("Handbook", f"Part {n}")) for n in range(9))
    common = hit("handbook leases", replace(TARGET[0], anchor_texts=("handbook",)), rows=rows)
    rare = hit("handbook leases", replace(TARGET[0], anchor_texts=("leases",)), rows=rows)
    assert 0 < common < rare / 2


@pytest.mark.parametrize(
    ("position", "weight"),
    [
        (LinkPosition.NAV, 1.0),
        (LinkPosition.HEADER, 0.9),
        (LinkPosition.BODY, 0.6),
        (LinkPosition.ASIDE, 0.3),
        (LinkPosition.FOOTER, 0.1),
    ],
)
def test_a_link_counts_by_where_it_stands(position: LinkPosition, weight: float) -> None:
    edge = link(OTHER, TARGET[0], "base backup", position=position)
    assert hit("base backup", replace(TARGET[0], heading_path=()), edge) == pytest.approx(weight)


def test_a_link_out_of_a_passage_counts_half() -> None:
    edge = link(OTHER, TARGET[0], "base backup", position=LinkPosition.NAV)
    assert hit("base backup", OTHER, edge) == pytest.approx(OUTGOING)


def test_a_link_counts_for_the_passage_it_leads_to_and_no_other() -> None:
    deep = link(OTHER, TARGET[0], "base backup", fragment="deep", position=LinkPosition.NAV)
    assert hit("base backup", TARGET[1], deep) == pytest.approx(1.0)
    assert hit("base backup", TARGET[0], deep) == 0.0
    whole = link(OTHER, TARGET[0], "base backup", position=LinkPosition.NAV)
    assert hit("base backup", TARGET[0], whole) == pytest.approx(1.0)
    assert hit("base backup", TARGET[1], whole) == 0.0


def test_the_position_that_was_read_is_taken_for_a_text_that_the_passage_holds() -> None:
    chunk = replace(TARGET[0], anchor_texts=("base backup",), heading_path=())
    footer = link(OTHER, TARGET[0], "base backup", position=LinkPosition.FOOTER)
    assert hit("base backup", chunk, footer) == pytest.approx(0.1)
    assert hit("base backup", chunk) == pytest.approx(0.6)
