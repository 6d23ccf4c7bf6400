"""What people see: one generation and nothing else, whatever came before it, on a real server."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from indexes.ports import ChunkReader
from indexes.stores.neo4j_ import changes, session, view
from indexes.stores.neo4j_.schema import (
    edge_from_properties,
    node_from_properties,
)
from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.edges import Edge, EdgeKind
from schemas.errors import SchemaMismatch
from schemas.nodes import Node, NodeKind
from tests.fakes.graph_generations import publish, publish_graph
from tests.fakes.graph_samples import DIM, SampleGraph, make_edge, make_graph, make_page
from tests.fakes.memory_stores import MemoryChunkStore
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.neo4j_stores import Neo4jStores, query_session

pytestmark = pytest.mark.neo4j

IX = "test-viewed"
LABELS = "|".join(NodeKind)
TYPES = "|".join(kind.value.upper() for kind in EdgeKind)

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def store(neo4j_graph_store_factory: Neo4jStores) -> Neo4jGraphStore:
    return neo4j_graph_store_factory(index_id=IX)


@pytest.fixture
def ask(neo4j_server: Neo4jServer) -> Iterator[Ask]:
    with query_session(neo4j_server) as open_session:
        yield lambda statement, **more: open_session.run(statement, ix=IX, **more).data()


def no_passages() -> ChunkReader:
    return MemoryChunkStore(dim=DIM).at(0)


def show(store: Neo4jGraphStore, generation: int) -> None:
    store.show(generation, no_passages)


def seen(ask: Ask) -> tuple[set[Node], set[Edge]]:
    """What people find under the labels and types of the kinds, read back as nodes and edges."""
    nodes = ask(f"MATCH (n:{LABELS} {{ix: $ix}}) RETURN properties(n) AS n")
    edges = ask(
        f"MATCH (a {{ix: $ix}})-[e:{TYPES}]->(b) "
        "RETURN properties(e) AS e, type(e) AS kind, a.id AS src, b.id AS dst"
    )
    return {node_from_properties(row["n"]) for row in nodes}, {
        edge_from_properties({**row["e"], "kind": row["kind"].lower(), "src": row["src"], "dst": row["dst"]})
        for row in edges
    }


def held(store: Neo4jGraphStore, generation: int) -> tuple[set[Node], set[Edge]]:
    """What readers of a generation find."""
    reader = store.at(generation)
    return set(reader.scan_nodes()), set(reader.scan_edges())


def change(store: Neo4jGraphStore, generation: int, graph: SampleGraph, *, base: int) -> None:
    """Change a title, take a region and its edges away, add a page with a link, change another link."""
    page, gone = make_page(f"https://site.test/{generation}"), graph.region
    link = next(edge for edge in graph.edges if edge.kind is EdgeKind.LINKS_TO)
    publish(
        store,
        generation,
        [page, replace(graph.page, title=f"In {generation}")],
        [make_edge(EdgeKind.LINKS_TO, graph.page, page), replace(link, count=generation)],
        gone_nodes=[gone.id],
        gone_edges=[edge.id for edge in graph.edges if gone.id in (edge.src, edge.dst)],
        base=base,
    )


def test_people_see_nothing_of_a_generation_until_it_is_shown(store: Neo4jGraphStore, ask: Ask) -> None:
    graph = make_graph()
    publish_graph(store, graph)
    assert seen(ask) == (set(), set())
    show(store, 1)
    assert seen(ask) == (set(graph.nodes), set(graph.edges))
    change(store, 2, graph, base=1)
    assert seen(ask) == held(store, 1)


def test_people_see_the_next_generation_and_no_row_that_ended_with_it(
    store: Neo4jGraphStore, ask: Ask
) -> None:
    graph = make_graph()
    publish_graph(store, graph)
    show(store, 1)
    change(store, 2, graph, base=1)
    show(store, 2)
    assert seen(ask) == held(store, 2)
    assert seen(ask)[0] != set(graph.nodes)


def test_what_people_see_is_joined_to_nothing_else(store: Neo4jGraphStore, ask: Ask) -> None:
    graph = make_graph()
    publish_graph(store, graph)
    show(store, 1)
    around = ask(
        f"MATCH (:{LABELS} {{ix: $ix}})-[e]-(m) "
        "RETURN DISTINCT type(e) AS kind, labels(m) AS labels, keys(e) AS said"
    )
    assert not {"kind", "src", "dst"} & {name for row in around for name in row["said"]}
    assert {label for row in around for label in row["labels"]} <= {"SitegraphNode", *NodeKind}
    assert {row["kind"] for row in around} <= {kind.value.upper() for kind in EdgeKind}


def test_a_rollback_and_the_generation_after_it_are_followed(store: Neo4jGraphStore, ask: Ask) -> None:
    graph = make_graph()
    publish_graph(store, graph)
    show(store, 1)
    change(store, 2, graph, base=1)
    show(store, 2)
    show(store, 1)
    assert seen(ask) == held(store, 1)
    change(store, 3, graph, base=1)
    assert seen(ask) == held(store, 1)
    show(store, 3)
    assert seen(ask) == held(store, 3)
    store.writer().prune(keep=[1, 3])
    assert seen(ask) == held(store, 3)


def test_a_change_to_another_generation_is_gone_on_with_wherever_it_broke_off(
    store: Neo4jGraphStore, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = make_graph()
    publish_graph(store, graph)
    show(store, 1)
    change(store, 2, graph, base=1)
    whole, sweep = {1: held(store, 1), 2: held(store, 2)}, session.Connection.sweep
    for number, to in (
        (1, 2),
        (2, 1),
        (3, 2),
        (4, 1),
        (4, 1),
        (4, 2),
    ):  # each begins where the one before broke off
        monkeypatch.setattr(session.Connection, "sweep", fail_once_after(number, sweep))
        with pytest.raises(RuntimeError):
            show(store, to)
    monkeypatch.undo()
    show(store, 1)
    assert seen(ask) == whole[1]
    show(store, 2)
    assert seen(ask) == whole[2]
    assert ask("MATCH (i:SitegraphIndex {id: $ix}) RETURN i.shown AS shown") == [{"shown": 2}]


def test_a_change_of_more_rows_than_the_server_may_hold_goes_page_by_page_and_is_gone_on_with(
    store: Neo4jGraphStore, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "HELD_ROWS", 0)
    monkeypatch.setattr(changes, "PAGE_ROWS", 2)
    monkeypatch.setattr(
        session.Connection, "sweep", lambda *_, **__: pytest.fail("the server held every row")
    )
    graph, write = make_graph(), session.Connection.write
    publish_graph(store, graph)
    change(store, 2, graph, base=1)
    whole = {1: held(store, 1), 2: held(store, 2)}
    for number, to in ((4, 1), (9, 1), (12, 2), (3, 2), (5, 1)):
        monkeypatch.setattr(session.Connection, "write", fail_once_after(number, write))
        with pytest.raises(RuntimeError):
            show(store, to)
        monkeypatch.setattr(session.Connection, "write", write)
    for generation in (1, 2, 1):
        show(store, generation)
        assert seen(ask) == whole[generation]


def test_a_generation_that_people_see_and_is_taken_back_is_seen_no_more(
    store: Neo4jGraphStore, ask: Ask
) -> None:
    graph = make_graph()
    publish_graph(store, graph)
    show(store, 1)
    change(store, 2, graph, base=1)
    show(store, 2)
    store.writer().abort(2, base=1)
    assert seen(ask) == held(store, 1)
    change(store, 2, graph, base=1)
    show(store, 2)
    assert seen(ask) == held(store, 2)


def test_pruning_what_was_never_shown_leaves_nothing_behind(store: Neo4jGraphStore, ask: Ask) -> None:
    graph = make_graph()
    publish_graph(store, graph)
    show(store, 1)
    change(store, 2, graph, base=1)
    change(store, 3, graph, base=2)
    store.writer().prune(keep=[3])
    assert seen(ask) == held(store, 3)
    show(store, 3)
    assert seen(ask) == held(store, 3)


def test_what_people_see_already_is_not_written_again(
    store: Neo4jGraphStore, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_graph(store, make_graph())
    show(store, 1)
    monkeypatch.setattr(session.Connection, "write", lambda *_: pytest.fail("it wrote"))
    monkeypatch.setattr(session.Connection, "sweep", lambda *_, **__: pytest.fail("it swept"))
    show(store, 1)
    assert seen(ask) == held(store, 1)


def test_two_indexes_of_one_database_are_shown_apart(
    store: Neo4jGraphStore, neo4j_graph_store_factory: Neo4jStores, ask: Ask
) -> None:
    graph, other = make_graph(), neo4j_graph_store_factory()
    for each in (store, other):
        publish_graph(each, graph)
        show(each, 1)
    publish(other, 2, gone_nodes=[node.id for node in graph.nodes], gone_edges=[e.id for e in graph.edges])
    show(other, 2)
    assert seen(ask) == held(store, 1)


@pytest.mark.parametrize("layout", ["", ", layout: 2"], ids=["first", "second"])
def test_a_graph_of_an_earlier_layout_is_refused_and_left_alone(
    layout: str, store: Neo4jGraphStore, ask: Ask
) -> None:
    record = f"(i:SitegraphIndex {{id: $ix, finished: [1, 2], staged: [], tip: 2{layout}}})"
    ask(f"CREATE {record}")
    for use in (lambda: store.at(2), store.create, lambda: show(store, 2)):
        with pytest.raises(SchemaMismatch, match="build the index anew: sitegraph run"):
            use()
    assert ask(f"MATCH {record} RETURN i.id AS id") == [{"id": IX}]


def fail_once_after(count: int, work: Callable[..., Any]) -> Callable[..., Any]:
    """Sweep or write, but for one call that fails as a crash would."""
    calls = iter(range(1, 1_000_000))

    def failing(*arguments: Any, **parameters: Any) -> Any:
        if next(calls) == count:
            raise RuntimeError("crashed on purpose")
        return work(*arguments, **parameters)

    return failing


def test_a_date_is_a_time_and_a_view_whose_dates_are_texts_is_made_anew(
    store: Neo4jGraphStore, ask: Ask
) -> None:
    at = {"a": "2026-01-02T03:04:05+00:00", "b": None, "c": "last spring"}
    pages = [make_page(f"https://site.test/{name}", last_modified=date) for name, date in at.items()]
    publish(store, 1, pages)
    told = "toString(n.last_modified) AS said, valueType(n.last_modified) AS type"
    expected = {
        ("2026-01-02T03:04:05Z", "ZONED DATETIME NOT NULL"),
        (None, "NULL"),
        ("last spring", "STRING NOT NULL"),
    }
    for _ in range(2):
        show(store, 1)
        assert {
            (row["said"], row["type"]) for row in ask(f"MATCH (n:Page {{ix: $ix}}) RETURN {told}")
        } == expected
        ask("MATCH (i:SitegraphIndex {id: $ix}) SET i.view_form = null")
        ask("MATCH (n:Page {ix: $ix}) SET n.last_modified = 'text', n.url = 'another'")
    show(store, 1)
    assert seen(ask)[1] == set()
    assert store.shows(1)
    assert set(store.at(1).scan_nodes()) == {*pages}
