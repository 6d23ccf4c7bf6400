"""Shortest paths over typed edges, and when links count as one."""

from indexes.ports import GraphReader
from indexes.stores.memory import MemoryGraphStore
from retrieval.relations.paths import HUB_MAX, Path, loose_paths, shortest_paths
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.nodes import Page

DEPENDS, LINKS = EdgeKind.DEPENDS_ON, EdgeKind.LINKS_TO


def edge(src: str, kind: EdgeKind, dst: str, **fields: object) -> Edge:
    return Edge(
        id=f"edge:{src}{kind}{dst}",
        kind=kind,
        src=src,
        dst=dst,
        doc=src,
        source="s",
        **fields,  # type: ignore[arg-type]
    )


def graph_of(*edges: Edge) -> GraphReader:
    ends = sorted({end for one in edges for end in (one.src, one.dst)})
    store = MemoryGraphStore()
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes([Page(id=e, doc=e, source="s", title=e, content_hash="h", path=e) for e in ends], [])
    writer.apply_edges(edges, [])
    writer.finish(1)
    return store.at(1)


def shown(paths: tuple[Path, ...]) -> list[list[str]]:
    return [[f"{hop.src}>{hop.dst}" for hop in path] for path in paths]


def test_the_shortest_paths_are_found_whichever_way_edges_point() -> None:
    graph = graph_of(
        edge("a", DEPENDS, "b"), edge("b", DEPENDS, "c"), edge("a", EdgeKind.RELATES_TO, "d"),
        edge("c", DEPENDS, "d"), edge("x", DEPENDS, "y"),
    )  # fmt: skip
    assert shown(shortest_paths(graph, ["a"], ["c"])) == [["a>b", "b>c"], ["a>d", "c>d"]]
    assert shown(shortest_paths(graph, ["c"], ["a"]))[0] == ["b>c", "a>b"]
    assert shortest_paths(graph, ["a"], ["y"]) == ()


def test_links_join_only_one_way_along_and_never_over_an_index_or_a_menu() -> None:
    index = [edge("index", LINKS, f"p{n}", position=LinkPosition.BODY) for n in range(HUB_MAX + 1)]
    graph = graph_of(
        *index,
        edge("a", LINKS, "b", position=LinkPosition.BODY),
        edge("b", LINKS, "c", position=LinkPosition.BODY),
        edge("d", LINKS, "b", position=LinkPosition.BODY),
        edge("a", LINKS, "index", position=LinkPosition.BODY),
        edge("a", LINKS, "z", position=LinkPosition.NAV),
    )
    assert shown(loose_paths(graph, ["a"], ["c"])) == [["a>b", "b>c"]]
    assert shown(loose_paths(graph, ["c"], ["a"])) == [["a>b", "b>c"]]
    assert loose_paths(graph, ["a"], ["d"]) == ()
    assert loose_paths(graph, ["a"], ["p1"]) == ()
    assert loose_paths(graph, ["a"], ["z"]) == ()
