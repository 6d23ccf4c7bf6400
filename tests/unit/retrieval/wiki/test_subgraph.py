"""The walk around the seeds: how far, along what, and what is kept."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from indexes.ports import GraphReader
from retrieval.wiki import subgraph
from retrieval.wiki.subgraph import (
    NODES_MAX,
    node_label,
    read_subgraph,
    to_subgraph_record,
)
from schemas.edges import Edge, EdgeKind, LinkPosition, plain_edge
from schemas.nodes import Page
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import make_graph
from tests.fakes.memory_stores import MemoryGraphStore
from tests.fakes.wiki import DAEMON, OXFORD, PLATFORM, people_index

LINK = EdgeKind.LINKS_TO


def edge(src: str, dst: str, confidence: float = 1.0, **fields: Any) -> Edge:
    plain = plain_edge(fields.pop("kind", LINK), src, dst, doc=src, source="s")
    return replace(plain, confidence=confidence, **fields)


def graph_of(edges: Iterable[Edge], *alone: str) -> GraphReader:
    joined = tuple(edges)
    store = MemoryGraphStore()
    names = sorted({end for one in joined for end in (one.src, one.dst)} | set(alone))
    pages = [Page(id=name, doc=name, source="s", title=name, content_hash="0") for name in names]
    publish(store, 1, pages, joined)
    return store.at(1)


class Counting:
    """The graph, with how often each of its methods was called."""

    def __init__(self, graph: GraphReader) -> None:
        self.calls: Counter[str] = Counter()
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._graph, name)


def test_the_walk_never_goes_deeper_than_two_hops() -> None:
    found = read_subgraph(graph_of([edge("a", "b"), edge("c", "b"), edge("c", "d")]), ["a"])
    assert found.hops == {"a": 0, "b": 1, "c": 2}
    assert [(one.src, one.dst) for one in found.edges] == [("a", "b"), ("c", "b")]


def test_only_edges_of_at_least_the_minimum_confidence_are_followed() -> None:
    graph = graph_of([edge("a", "b", 0.6), edge("a", "c", 0.59), edge("b", "c", 0.3), edge("b", "d", 0.9)])
    assert set(read_subgraph(graph, ["a"]).hops) == {"a", "b", "d"}
    assert all(one.confidence >= 0.6 for one in read_subgraph(graph, ["a"]).edges)


def test_seeds_are_always_in_the_result_also_without_edges() -> None:
    found = read_subgraph(graph_of([edge("b", "c")], "a"), ["a"])
    assert (found.seeds, [node.id for node in found.nodes], found.edges) == (("a",), ["a"], ())


def test_a_seed_that_is_no_node_is_never_made_up() -> None:
    found = read_subgraph(graph_of([edge("a", "b")]), ["nowhere", "a"])
    assert (found.seeds, set(found.hops)) == (("a",), {"a", "b"})


def test_at_most_fifty_nodes_are_kept_seeds_first_then_one_hop_then_two_each_by_confidence_and_id() -> None:
    near = [edge("s", f"near{number:02}", 0.6 + number / 1000) for number in range(30)]
    far = [edge("near00", f"far{number:02}", 0.95) for number in range(30)]
    found = read_subgraph(graph_of([*near, *far], "other"), ["s", "other"])
    assert len(found.nodes) == NODES_MAX
    assert [node for node, hop in found.hops.items() if hop == 1] == [
        f"near{n:02}" for n in range(29, -1, -1)
    ]
    assert [node for node, hop in found.hops.items() if hop == 2] == [f"far{n:02}" for n in range(18)]
    crowded = read_subgraph(graph_of(edge("s", f"n{number:02}", 0.9) for number in range(60)), ["s"])
    assert list(crowded.hops) == ["s", *(f"n{number:02}" for number in range(49))]


def test_links_beside_the_text_join_everything_and_are_not_followed() -> None:
    beside = [LinkPosition.NAV, LinkPosition.HEADER, LinkPosition.ASIDE, LinkPosition.FOOTER]
    edges = [edge("a", position.value, position=position) for position in (*beside, LinkPosition.BODY)]
    assert set(read_subgraph(graph_of(edges), ["a"]).hops) == {"a", "body"}


def test_the_graph_is_asked_once_a_hop_and_direction_and_twice_for_nodes() -> None:
    wide = [edge("s", f"n{number}") for number in range(20)] + [edge(f"n{n}", f"m{n}") for n in range(20)]
    counted = Counting(graph_of(wide))
    assert len(read_subgraph(counted, ["s"]).nodes) == 41
    assert counted.calls == {"edges_from": 2, "edges_to": 2, "nodes": 2}


def test_the_record_has_the_contract_of_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgraph, "MIN_CONFIDENCE", 0.75)
    index = people_index()
    told = next(row for row in index.rows if "maintained by" in row.text)
    found = read_subgraph(index.graph, [DAEMON.id])
    record = to_subgraph_record(found, {row.id: row for row in index.rows})
    assert record["nodes"][PLATFORM.id] == {
        "name": "Platform Group",
        "type": "Entity",
        "source_document": told.doc,
        "source_chunks": sorted(row.id for row in index.rows if "Platform" in row.text),
    }
    assert OXFORD.id not in record["nodes"]
    (related,) = [one for one in record["edges"] if one["type"] == "is maintained by"]
    assert related == {
        "source": DAEMON.id,
        "target": PLATFORM.id,
        "type": "is maintained by",
        "confidence": 0.8,
        "source_document": told.doc,
        "supporting_text": told.text,
        "chunk_id": told.id,
    }
    assert record["nodes"][told.id]["name"].startswith("The Lease Daemon is maintained")


def test_every_kind_of_node_has_a_name() -> None:
    names = [node_label(node) for node in make_graph().nodes]
    assert all(names)
    assert {"It's a “guide”", "Köln", "Manual", "page i", "cells", "open https://site.test"} <= set(names)
