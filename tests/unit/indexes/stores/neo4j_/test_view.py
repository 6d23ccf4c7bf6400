"""What people see: one generation and nothing else, whatever came before it, on a real server."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from indexes.ports import ChunkReader
from indexes.stores.memory import MemoryChunkStore
from indexes.stores.neo4j_ import session, sweeps, view
from indexes.stores.neo4j_.properties import (
    edge_from_properties,
    edge_properties,
    node_from_properties,
    node_properties,
)
from indexes.stores.neo4j_.schema import OPEN, TEXT_INDEX, schema_statements
from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.edges import Edge, EdgeKind
from schemas.errors import StoreUnavailable
from schemas.nodes import Node, NodeKind
from tests.fakes.graph_generations import publish, publish_graph
from tests.fakes.graph_samples import DIM, SampleGraph, make_edge, make_graph, make_page
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
    monkeypatch.setattr(sweeps, "PAGE_ROWS", 2)
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


# What earlier versions wrote for a page that links to another and to itself, at generations 1 and 2.
_REVISIONS = """
CREATE (a)-[:HAS_REV]->(v:Rev {ix: $ix, id: $a.id, valid_from: 1, valid_to: $open}) SET v += $a
CREATE (b)-[:HAS_REV]->(w:Rev {ix: $ix, id: $b.id, valid_from: 1, valid_to: 2}) SET w += $b
CREATE (a)-[e:LINKS_TO {ix: $ix, valid_from: 1, valid_to: 2}]->(b) SET e += $dead
CREATE (a)-[f:LINKS_TO {ix: $ix, valid_from: 2, valid_to: $open}]->(a) SET f += $live
"""
_FIRST_LAYOUT = f"""
CREATE (:SitegraphIndex {{id: $ix, finished: [1, 2], staged: [], tip: 2}})
CREATE (a:Ref:Page {{ix: $ix, id: $a.id, live: true}}) SET a += $a, a.valid_from = 1, a.valid_to = $open
CREATE (b:Ref:Page {{ix: $ix, id: $b.id}})
{_REVISIONS}
"""
_SECOND_LAYOUT = f"""
CREATE (:SitegraphIndex {{id: $ix, finished: [1, 2], staged: [], tip: 2, layout: 2, view_low: 1, view_high: 1,
    view_form: 2, view_embedded: false}})
CREATE (a:Ref {{ix: $ix, id: $a.id}}) CREATE (b:Ref {{ix: $ix, id: $b.id}})
{_REVISIONS.replace("LINKS_TO", "LINKS_TO_REV")}
CREATE (m:SitegraphNode:Page {{ix: $ix, id: $a.id}}) SET m += $a
CREATE (n:SitegraphNode:Page {{ix: $ix, id: $b.id}}) SET n += $b
CREATE (m)-[g:LINKS_TO {{ix: $ix}}]->(n) SET g += $dead
"""


@pytest.mark.parametrize(
    ("written", "suffix"), [(_FIRST_LAYOUT, ""), (_SECOND_LAYOUT, "_REV")], ids=["first", "second"]
)
@pytest.mark.parametrize("step", range(1, 7))
def test_what_an_earlier_version_wrote_is_brought_up_to_date_once(
    written: str, suffix: str, step: int, store: Neo4jGraphStore, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = make_page("https://site.test/a"), make_page("https://site.test/b")
    dead, live = make_edge(EdgeKind.LINKS_TO, a, b), make_edge(EdgeKind.LINKS_TO, a, a)
    write_earlier_layout(ask, written, f"LINKS_TO{suffix}", (a, b), (dead, live))
    with pytest.raises(StoreUnavailable, match="sitegraph run"):
        store.at(2)
    sweep = session.Connection.sweep
    monkeypatch.setattr(session.Connection, "sweep", fail_once_after(step, sweep))
    with pytest.raises(RuntimeError):
        show(store, 2)

    show(store, 2)

    assert held(store, 1) == ({a, b}, {dead})
    assert held(store, 2) == ({a}, {live}) == seen(ask)
    store.writer().prune(keep=[2])
    assert seen(ask) == ({a}, {live})
    assert ask("MATCH (n:SitegraphRef {ix: $ix}) RETURN labels(n) AS l, properties(n) AS p") == [
        {"l": ["SitegraphRef"], "p": {"ix": IX, "id": a.id}}
    ]
    assert ask("MATCH (n:Ref|Rev {ix: $ix}) RETURN n") == []
    named = "name STARTS WITH 'sitegraph_' AND NOT name STARTS WITH 'sitegraph_chunk_'"
    names = {row["name"] for row in ask(f"SHOW INDEXES YIELD name WHERE {named} RETURN name")}
    assert names == schema_statements().keys() - {TEXT_INDEX}


def write_earlier_layout(
    ask: Ask, written: str, row_type: str, pages: tuple[Node, Node], links: tuple[Edge, Edge]
) -> None:
    """Write as an earlier version did; some of its schema too, so that it is seen to go."""
    name = f"sitegraph_{row_type.lower()}"
    for statement in (
        f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR ()-[v:{row_type}]->() "
        "REQUIRE (v.ix, v.id, v.valid_from) IS UNIQUE",
        f"CREATE INDEX {name}_doc IF NOT EXISTS FOR ()-[v:{row_type}]->() ON (v.ix, v.doc)",
        "CREATE CONSTRAINT sitegraph_ref IF NOT EXISTS FOR (v:Ref) REQUIRE (v.ix, v.id) IS UNIQUE",
        "CREATE INDEX sitegraph_rev_doc IF NOT EXISTS FOR (v:Rev) ON (v.ix, v.doc)",
    ):
        ask(statement)
    a, b = map(node_properties, pages)
    dead, live = (
        {name: value for name, value in edge_properties(link).items() if name not in {"kind", "src", "dst"}}
        for link in links
    )
    ask(written, a=a, b=b, dead=dead, live=live, open=OPEN)


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
