"""Shortest paths over typed edges, and when links count as one."""

from indexes.ports import GraphReader
from retrieval.relations.asked import EdgeDirection, Step
from retrieval.relations.find import PATHS_SHOWN, NamedThing, find_relations
from retrieval.relations.paths import HUB_MAX, PATHS_MAX, Path, follow_steps, loose_paths, shortest_paths
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.nodes import Page
from tests.fakes.memory_stores import MemoryGraphStore

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
    assert shown(loose_paths(graph, ["index"], ["p7"])) == [["index>p7"]]


def test_steps_lead_to_every_end_by_a_few_ways_each() -> None:
    pages = [f"p{n}" for n in range(20)]
    graph = graph_of(*(edge(one, LINKS, other) for one in pages for other in pages if one != other))
    step = Step(kinds=frozenset({LINKS}), way=EdgeDirection.OUT)

    paths = follow_steps(graph, ["p0"], [step] * 3, all_the_way=False)

    assert {path[-1].end for path in paths} == set(pages) - {"p0"}
    assert len(paths) <= PATHS_MAX * len(pages)


def thing(name: str, text: str) -> NamedThing:
    at = text.index(name)
    return NamedThing(name=name, nodes=(name,), spans=((at, at + len(name)),), has_id=True)


def test_what_two_share_and_what_joins_them_is_found_among_many() -> None:
    many = [edge("AAA-1", DEPENDS, f"n{number:03}") for number in range(100)]
    graph = graph_of(*many, edge("BBB-2", DEPENDS, "n099"), edge("AAA-1", DEPENDS, "zzz"))
    both = "What do AAA-1 and BBB-2 both depend on?"
    direct = "Does AAA-1 depend on zzz?"

    (shared,) = find_relations(graph, both, [thing("AAA-1", both), thing("BBB-2", both)])
    (joined,) = find_relations(graph, direct, [thing("AAA-1", direct), thing("zzz", direct)])

    assert {path[-1].end for path in shared.paths} == {"n099"}
    assert shown(joined.paths) == [["AAA-1>zzz"]]


def test_of_more_than_can_be_told_it_is_said_how_many_there_are() -> None:
    graph = graph_of(*(edge(f"n{number:03}", DEPENDS, "AAA-1") for number in range(PATHS_SHOWN + 5)))
    text = "What depends on AAA-1?"

    (found,) = find_relations(graph, text, [thing("AAA-1", text)])

    assert (len(found.paths), found.more) == (PATHS_SHOWN, 5)
