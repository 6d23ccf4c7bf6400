"""Activation over two hops: how much, how far, and by which path."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from retrieval.graph.spreading import (
    DECAY,
    HUB_MAX,
    Reach,
    Spread,
    choose_anchors,
    spread_from,
    weigh_spread,
)
from schemas.edges import Edge
from tests.fakes.small_index import Document, SmallIndex, build_index, link, page


def pages(*names: str) -> dict[str, Document]:
    return {name: page(name, {name.upper(): f"text {name}"}) for name in names}


def measured(index: SmallIndex, base: float = 0.5, **exceptions: float) -> object:
    named = {row.doc: exceptions.get((row.section or "").lower(), base) for row in index.rows}
    chunk = {row.doc: row.id for row in index.rows}

    def measure(docs: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        return {doc: {chunk[doc]: named[doc]} for doc in sorted(docs) if named[doc] > 0}

    return measure


def linked(pairs: str) -> tuple[SmallIndex, dict[str, str]]:
    """Make pages of letters and links between them: "ab bc" joins a to b and b to c."""
    made = pages(*sorted(set(pairs.replace(" ", ""))))
    edges: list[Edge] = [link(made[p[0]][1][0], made[p[1]][1][0], p) for p in pairs.split()]
    index = build_index(made.values(), edges)
    return index, {name: document[1][0].doc for name, document in made.items()}


def spread(index: SmallIndex, start: Spread, **bases: float) -> Spread:
    return spread_from(index.graph, start, measure=measured(index, **bases))  # type: ignore[arg-type]


def test_each_hop_takes_a_share_by_the_base_of_what_it_reaches() -> None:
    index, doc = linked("ab bc cd")
    found = spread(index, Spread(anchors={doc["a"]: 0.8}))
    first = 0.8 * DECAY * 0.75
    assert found.activation(doc["b"]) == pytest.approx(first)
    assert found.activation(doc["c"]) == pytest.approx(first * DECAY * 0.75)
    assert doc["d"] not in found.reached


def test_the_path_shown_is_the_whole_way_from_the_anchor() -> None:
    index, doc = linked("ab bc")
    found = spread(index, Spread(anchors={doc["a"]: 1.0}))
    assert [(step.src, step.dst) for step in found.reached[doc["c"]].path] == [
        (doc["a"], doc["b"]),
        (doc["b"], doc["c"]),
    ]


def test_of_two_ways_the_stronger_counts_and_they_are_not_added() -> None:
    index, doc = linked("ac bc")
    found = spread(index, Spread(anchors={doc["a"]: 0.9, doc["b"]: 0.6}))
    assert found.activation(doc["c"]) == pytest.approx(0.9 * DECAY * 0.75)
    assert found.reached[doc["c"]].path[0].src == doc["a"]


def test_an_anchor_may_be_lit_brighter_by_another_one_and_never_darker() -> None:
    index, doc = linked("ab bx")
    found = spread(index, Spread(anchors={doc["a"]: 1.0, doc["b"]: 0.3}))
    assert found.activation(doc["b"]) == pytest.approx(DECAY * 0.75)
    assert found.activation(doc["a"]) == 1.0


def test_of_a_hub_only_the_best_neighbours_are_reached() -> None:
    leaves = pages(*(f"p{n:02}" for n in range(HUB_MAX + 10)))
    hub = page("hub", {"Hub": "the hub"})
    edges = [link(hub[1][0], leaf[1][0], name) for name, leaf in leaves.items()]
    index = build_index([hub, *leaves.values()], edges)
    found = spread(index, Spread(anchors={hub[1][0].doc: 1.0}), p25=0.9)
    assert len(found.reached) == HUB_MAX
    assert leaves["p25"][1][0].doc in found.reached


def test_what_the_filters_leave_out_is_not_reached_and_leads_nowhere() -> None:
    index, doc = linked("ab bc")
    found = spread(index, Spread(anchors={doc["a"]: 1.0}), b=0.0)
    assert (found.reached, found.ran) == ({}, False)


def test_the_three_best_documents_are_anchors_and_ties_go_by_id() -> None:
    base = {"page:d": 0.5, "page:b": 0.5, "page:a": 0.9, "page:c": 0.5, "page:e": 0.0}
    assert list(choose_anchors(base, ()).anchors) == ["page:a", "page:b", "page:c"]
    assert choose_anchors(base, {"page:e"}).anchors == {"page:e": 1.0}


def test_a_spread_that_reaches_nearly_all_that_was_found_counts_nothing() -> None:
    reach = Reach(activation=0.8, path=())
    found = ["a", *(f"d{n}" for n in range(10))]
    spread = Spread(anchors={"a": 1.0}, reached={f"d{n}": reach for n in range(10)}, ran=True)
    silent = weigh_spread(spread, found)
    assert (silent.reached, silent.ran, silent.weight) == ({}, False, 0.0)


def test_a_spread_that_reaches_few_of_what_was_found_counts_wholly_and_one_between_less() -> None:
    reach = Reach(activation=0.8, path=())
    found = ["a", *(f"d{n}" for n in range(20))]
    few = Spread(anchors={"a": 1.0}, reached={f"d{n}": reach for n in range(2)}, ran=True)
    assert weigh_spread(few, found) == few
    some = weigh_spread(replace(few, reached={f"d{n}": reach for n in range(6)}), found)
    assert 0 < some.weight < 1
    assert some.activation("d1") == pytest.approx(0.8 * some.weight)


def test_what_the_question_names_counts_whatever_it_leads_to() -> None:
    reach = Reach(activation=0.8, path=())
    named = Spread(anchors={"a": 1.0}, named=frozenset({"a"}), reached={"b": reach}, ran=True)
    assert weigh_spread(named, ["a", "b"]) == named
