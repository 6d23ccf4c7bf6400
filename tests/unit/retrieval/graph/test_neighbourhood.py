"""The walk around a node: both ways, hop by hop, a share for each kind, and nothing left out in silence."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from indexes.ports import GraphReader
from retrieval.graph.surroundings import Neighbourhood, OmittedNodes, walk_neighbourhood
from schemas.edges import Edge, EdgeKind, plain_edge
from schemas.nodes import Page
from tests.fakes.memory_stores import MemoryGraphStore

LINK, PART, NEAR = EdgeKind.LINKS_TO, EdgeKind.CONTAINS, EdgeKind.SIMILAR_TO


def edge(src: str, dst: str, kind: EdgeKind = LINK) -> Edge:
    return plain_edge(kind, src, dst, doc=src, source="s")


def graph_of(edges: Iterable[Edge]) -> GraphReader:
    joined = tuple(edges)
    writer = (store := MemoryGraphStore()).writer()
    writer.stage(1, base=0)
    names = sorted({end for one in joined for end in (one.src, one.dst)})
    writer.apply_nodes([Page(id=n, doc=n, source="s", title=n, content_hash="0") for n in names], ())
    writer.apply_edges(joined, ())
    writer.finish(1)
    return store.at(1)


def walk(graph: GraphReader, *start: str, hops: int = 2, limit: int = 100, **options: Any) -> Neighbourhood:
    return walk_neighbourhood(graph, start or ("a",), hops=hops, limit=limit, **options)


class Counting:
    """The graph, with how often each of its methods was called."""

    def __init__(self, graph: GraphReader) -> None:
        self.calls: Counter[str] = Counter()
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._graph, name)


def test_edges_are_followed_both_ways_as_far_as_asked() -> None:
    graph = graph_of([edge("a", "b"), edge("c", "a"), edge("b", "d"), edge("d", "e")])
    assert walk(graph, hops=0).hops == {"a": 0}
    assert walk(graph, hops=1).hops == {"a": 0, "b": 1, "c": 1}
    assert walk(graph, hops=2).hops == {"a": 0, "b": 1, "c": 1, "d": 2}
    assert [(one.src, one.dst) for one in walk(graph).edges] == [("a", "b"), ("b", "d"), ("c", "a")]


def test_several_starts_are_one_neighbourhood() -> None:
    graph = graph_of([edge("a", "m"), edge("b", "m"), edge("m", "z")])
    assert walk(graph, "b", "a", "a", hops=1).hops == {"a": 0, "b": 0, "m": 1}


def test_only_edges_of_the_kinds_asked_for_are_followed() -> None:
    graph = graph_of([edge("a", "b"), edge("a", "c", PART), edge("c", "d", NEAR)])
    assert walk(graph, kinds=[PART]).hops == {"a": 0, "c": 1}
    assert walk(graph, kinds=[PART, NEAR]).hops == {"a": 0, "c": 1, "d": 2}


def test_each_kind_has_its_share_of_the_limit_and_the_rest_is_counted() -> None:
    links = [edge("a", f"l{number}") for number in range(9)]
    parts = [edge("a", f"p{number}", PART) for number in range(3)]
    found = walk(graph_of([*links, *parts, edge("a", "n", NEAR)]), hops=1, limit=6)
    assert [node.id for node in found.nodes] == ["a", "p0", "l0", "n", "p1", "l1"]
    assert found.left_out == (
        OmittedNodes(hop=1, kind=PART, nodes=1),
        OmittedNodes(hop=1, kind=LINK, nodes=7),
    )


def test_a_node_left_out_is_counted_once_and_never_comes_back() -> None:
    graph = graph_of([edge("a", "b"), edge("a", "c"), edge("b", "c"), edge("b", "d")])
    found = walk(graph, limit=2)
    assert found.hops == {"a": 0, "b": 1}
    assert found.left_out == (
        OmittedNodes(hop=1, kind=LINK, nodes=1),
        OmittedNodes(hop=2, kind=LINK, nodes=1),
    )


def test_the_surest_edges_come_first() -> None:
    unsure = Edge(id="e1", kind=LINK, src="a", dst="b", doc="a", source="s", confidence=0.4)
    sure = Edge(id="e2", kind=LINK, src="a", dst="c", doc="a", source="s", confidence=0.9)
    assert walk(graph_of([unsure, sure]), limit=2).hops == {"a": 0, "c": 1}


def test_every_edge_has_both_its_ends_also_where_the_limit_cuts() -> None:
    graph = graph_of([edge("a", f"n{number}") for number in range(5)] + [edge("n0", "n4")])
    found = walk(graph, limit=3)
    ids = {node.id for node in found.nodes}
    assert {end for one in found.edges for end in (one.src, one.dst)} <= ids


def test_the_graph_is_asked_once_a_hop_and_direction_and_never_for_a_node() -> None:
    wide = graph_of(
        edge(f"n{number}", f"n{number * 7 + step}") for number in range(7) for step in range(1, 8)
    )
    counted = Counting(wide)
    found = walk(counted, "n0", hops=2)
    assert len(found.nodes) > 20
    assert counted.calls == {"edges_from": 2, "edges_to": 2, "nodes": 1}


def test_an_id_that_is_no_node_has_no_neighbourhood() -> None:
    found = walk(graph_of([edge("a", "b")]), "zz")
    assert (found.nodes, found.edges, found.left_out) == ((), (), ())
