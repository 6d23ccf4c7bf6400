"""Paths as sentences and as chains."""

import pytest

from retrieval.relations.asked import EdgeDirection, Step
from retrieval.relations.paths import Hop
from retrieval.relations.wording import say_chain, say_neighbours, say_nothing_found, say_path
from schemas.edges import Edge, EdgeKind

NAMES = {name: name for name in "ABCD"}
DEPENDS, RELATES, SUPERSEDES = EdgeKind.DEPENDS_ON, EdgeKind.RELATES_TO, EdgeKind.SUPERSEDES


def hop(src: str, kind: EdgeKind, dst: str, *, forward: bool = True, predicate: str | None = None) -> Hop:
    edge = Edge(id=f"{src}{kind}{dst}", kind=kind, src=src, dst=dst, doc=src, source="s", predicate=predicate)
    return Hop(edge=edge, src=src, dst=dst, forward=forward)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ((hop("A", DEPENDS, "B"),), "A depends on B."),
        ((hop("A", DEPENDS, "B", forward=False),), "A depends on B."),
        ((hop("A", DEPENDS, "B"), hop("B", SUPERSEDES, "C")), "A depends on B, which supersedes C."),
        (
            (hop("A", DEPENDS, "B"), hop("C", DEPENDS, "B", forward=False)),
            "A depends on B, on which C depends.",
        ),
        (
            (hop("B", DEPENDS, "A", forward=False), hop("B", RELATES, "C")),
            "B depends on A, and B relates to C.",
        ),
        (
            (hop("B", DEPENDS, "A", forward=False), hop("C", DEPENDS, "B", forward=False)),
            "C depends on B, which depends on A.",
        ),
        ((hop("A", RELATES, "B", predicate="verified_by"),), "A is verified by B."),
        ((hop("A", RELATES, "B", predicate="implements"),), "A implements B."),
    ],
)
def test_a_path_is_told_as_one_sentence_along_most_of_its_edges(path: tuple[Hop, ...], said: str) -> None:
    assert say_path(path, NAMES) == said


def test_a_chain_shows_kinds_and_directions() -> None:
    path = (hop("A", DEPENDS, "B"), hop("C", RELATES, "B", forward=False, predicate="implements"))
    assert say_chain(path, NAMES) == "A --[depends_on]--> B <--[implements]-- C"


def test_neighbours_are_listed_by_kind_and_direction() -> None:
    paths = [
        (hop("B", DEPENDS, "A", forward=False),),
        (hop("C", DEPENDS, "A", forward=False),),
        (hop("A", SUPERSEDES, "D"),),
        (hop("D", RELATES, "A", forward=False, predicate="implements"),),
    ]
    assert [text for text, _ in say_neighbours(paths, NAMES)] == [
        "A supersedes D.",
        "B and C depend on A.",
        "D implements A.",
    ]


def test_what_is_not_there_is_said_by_kind_and_direction() -> None:
    kinds = frozenset({DEPENDS})
    into, out = (Step(kinds=kinds, way=way) for way in (EdgeDirection.INTO, EdgeDirection.OUT))
    assert say_nothing_found("A", [into]) == "No document of the index depends on A."
    assert say_nothing_found("A", [out]) == "A depends on no document of the index."
