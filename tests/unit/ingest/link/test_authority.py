"""Authority of documents: by links and their places, by clicks, and the same however the input is ordered."""

from dataclasses import replace

import numpy as np
import pytest

from ingest.link.authority import page_rank
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.ids import edge_id
from tests.fakes.linked_documents import links_among, weigh

A, B, C, D = DOCS = ("page:a", "page:b", "page:c", "page:d")
KINDS = dict.fromkeys(DOCS, "html")
KINDS_BACKWARDS = dict.fromkeys(DOCS[::-1], "html")


def link(src: str, dst: str, position: LinkPosition | None = LinkPosition.BODY, text: str = "x") -> Edge:
    """A link between documents."""
    kind = EdgeKind.LINKS_TO
    id_ = edge_id(kind, src, dst, text, position or "")
    return Edge(id=id_, kind=kind, src=src, dst=dst, doc=src, source="site", position=position)


def test_ranks_are_those_of_the_equations() -> None:
    """Solved directly: `r = .85 (M r + stuck/n) + .15 t`."""
    links = [
        link(A, B),
        link(A, C, LinkPosition.NAV),
        link(B, C),
        link(C, A),
        link(D, C, LinkPosition.FOOTER),
    ]
    teleport = np.array([0.4, 0.3, 0.2, 0.1])
    moves = np.array([[0, 0, 1, 0], [1 / 1.15, 0, 0, 0], [0.15 / 1.15, 1, 0, 1], [0, 0, 0, 0]])

    ranks = page_rank(links_among(KINDS, links).links, teleport)

    assert ranks == pytest.approx(np.linalg.solve(np.eye(4) - 0.85 * moves, 0.15 * teleport), abs=1e-9)
    assert ranks.sum() == pytest.approx(1.0)


def test_what_stands_where_no_link_leaves_goes_anywhere() -> None:
    ranks = page_rank(links_among(KINDS, [link(A, B)]).links, np.full(4, 0.25))
    moves = np.array(
        [[0, 0.25, 0.25, 0.25], [1, 0.25, 0.25, 0.25], [0, 0.25, 0.25, 0.25], [0, 0.25, 0.25, 0.25]]
    )
    assert ranks == pytest.approx(np.linalg.solve(np.eye(4) - 0.85 * moves, np.full(4, 0.15 / 4)), abs=1e-9)


def test_the_best_document_has_one_and_all_have_some() -> None:
    values = weigh(KINDS, [link(A, D), link(B, D), link(C, D)], {})
    assert (max(values.values()), max(values, key=values.__getitem__)) == (1.0, D)
    assert all(0 < value <= 1 for value in values.values())
    assert values[A] == values[B] == values[C]
    ranks = page_rank(links_among(KINDS, [link(A, D), link(B, D), link(C, D)]).links, np.full(4, 0.25))
    assert values[A] == pytest.approx(np.log(1 + 4 * ranks[0]) / np.log(1 + 4 * ranks[3]))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (LinkPosition.BODY, LinkPosition.ASIDE),
        (LinkPosition.ASIDE, LinkPosition.NAV),
        (LinkPosition.ASIDE, LinkPosition.HEADER),
        (LinkPosition.ASIDE, LinkPosition.FOOTER),
        (None, LinkPosition.NAV),
    ],
)
def test_a_link_counts_by_its_place(better: LinkPosition | None, worse: LinkPosition) -> None:
    values = weigh(KINDS, [link(A, B, better), link(A, C, worse)], {})
    assert values[B] > values[C]


def test_of_several_links_to_one_document_the_weightiest_counts_once() -> None:
    once = [link(A, B, LinkPosition.NAV), link(A, C)]
    often = [*once, link(A, B, LinkPosition.FOOTER), *(link(A, C, text=f"again {n}") for n in range(9))]
    assert weigh(KINDS, often, {}) == weigh(KINDS, once, {})


def test_documents_are_compared_with_those_of_their_kind() -> None:
    """A PDF that nothing links to is as good as the mean PDF, and not worse than every page."""
    links = [link(A, B), link(B, A), link(C, A), link(C, B)]
    among_pages = weigh(KINDS, links, {})
    as_pdf = weigh({**KINDS, D: "pdf"}, links, {})
    assert among_pages[D] == min(among_pages.values())
    assert as_pdf[D] == pytest.approx(np.log(2) / np.log1p(as_pdf_ratio(links)))
    assert as_pdf[C] < as_pdf[D] < as_pdf[A]


def as_pdf_ratio(links: list[Edge]) -> float:
    """Return the rank of the best page over the mean of the three pages."""
    ranks = page_rank(links_among(KINDS, links).links, np.full(4, 0.25))
    return float(ranks[0] / ranks[:3].mean())


def test_clicks_on_citations_count_less_and_less() -> None:
    none, few, many = (
        weigh(KINDS, [], {B: number})[B] / weigh(KINDS, [], {B: number})[A] for number in (0, 3, 300)
    )
    assert none == 1.0
    assert 1.0 < few < many < 300


def test_links_inside_a_document_and_to_unknown_ones_do_not_count() -> None:
    inner = replace(link(A, A), src="pdfregion:1", dst="pdfregion:2")
    away = link(A, "page:elsewhere")
    into_a_part = replace(link(A, B), dst="pdfpage:7")
    plain = weigh(KINDS, [link(A, B)], {"page:elsewhere": 9})
    assert weigh(KINDS, [link(A, B), link(A, A), inner, away, into_a_part], {}) == plain


def test_the_order_of_documents_and_links_changes_no_bit() -> None:
    links = [
        link(src, dst, position) for src in DOCS for dst in DOCS for position in LinkPosition if src < dst
    ]
    assert weigh(KINDS_BACKWARDS, links[::-1], {A: 2, C: 1}) == weigh(KINDS, links, {C: 1, A: 2})


def test_nothing_has_no_authority() -> None:
    assert weigh({}, [link(A, B)], {A: 1}) == {}
    assert weigh({A: "html"}, [], {}) == {A: 1.0}
