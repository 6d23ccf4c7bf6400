"""What only the Neo4j store promises, on a real server; the rest is in tests/contract."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from indexes.ports import GraphStore, StoreState
from indexes.stores.neo4j_ import reader
from indexes.stores.neo4j_.store import Neo4jGraphStore
from schemas.edges import EdgeKind
from schemas.errors import DamageFound, StaleLease, StoreUnavailable
from tests.fakes.graph_samples import SampleGraph, make_edge, make_graph, make_page
from tests.fakes.neo4j_server import Neo4jServer
from tests.fakes.neo4j_stores import Neo4jStores, query_session

pytestmark = pytest.mark.neo4j

IX = "test-watched"


@pytest.fixture
def store(neo4j_graph_store_factory: Neo4jStores) -> Neo4jGraphStore:
    return neo4j_graph_store_factory(index_id=IX)


@pytest.fixture
def ask(neo4j_server: Neo4jServer) -> Callable[..., list[dict[str, Any]]]:
    def run(statement: str, **parameters: Any) -> list[dict[str, Any]]:
        with query_session(neo4j_server) as session:
            return session.run(statement, ix=IX, **parameters).data()

    return run


def publish(
    store: GraphStore, generation: int, *graphs: SampleGraph, base: int = -1
) -> tuple[StoreState, ...]:
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base < 0 else base)
    for graph in graphs:
        writer.apply_nodes(graph.nodes, [])
        writer.apply_edges(graph.edges, [])
    return writer.finish(generation)


@pytest.mark.long
def test_two_indexes_in_one_database_do_not_see_each_other(neo4j_graph_store_factory: Neo4jStores) -> None:
    one, two = neo4j_graph_store_factory(), neo4j_graph_store_factory()
    graph = make_graph()
    before = publish(one, 1, graph)
    publish(two, 1, graph, make_graph("https://other.test"))
    writer = two.writer()
    writer.stage(2, base=1)
    writer.apply_nodes([replace(graph.page, title="Only there")], [graph.region.id])
    writer.apply_edges([], [edge.id for edge in graph.edges])
    writer.finish(2)
    writer.prune(keep=[2])
    assert one.at(1).state() == before
    assert one.at(1).nodes([graph.page.id]) == (graph.page,)
    assert len(one.at(1).edges_from([node.id for node in graph.nodes])) == len(graph.edges)
    with pytest.raises(StoreUnavailable):
        one.at(2)


def test_upserting_what_is_there_already_writes_nothing(
    store: Neo4jGraphStore, ask: Callable[..., list[dict[str, Any]]]
) -> None:
    graph = make_graph()
    publish(store, 1, graph)
    everything = "MATCH (v {ix: $ix}) RETURN elementId(v) AS key, properties(v) AS v ORDER BY key"
    edges = "MATCH ()-[v {ix: $ix}]->() RETURN elementId(v) AS key, properties(v) AS v ORDER BY key"
    before = ask(everything), ask(edges)
    publish(store, 2, graph)
    assert (ask(everything), ask(edges)) == before


def test_a_row_that_stands_there_twice_is_found_and_written_once(
    store: Neo4jGraphStore, ask: Callable[..., list[dict[str, Any]]]
) -> None:
    graph = make_graph()
    publish(store, 1, graph)
    link = next(edge for edge in graph.edges if edge.kind is EdgeKind.LINKS_TO)
    ask(
        "MATCH (a)-[v:SITEGRAPH_EDGE {ix: $ix, id: $id}]->(b) CREATE (a)-[w:SITEGRAPH_EDGE]->(b) "
        "SET w = v {.*, valid_from: 0}",
        id=link.id,
    )
    assert store.at(1).damaged_rows() == (link.id,)
    writer = store.writer()
    writer.stage(2, base=1)
    writer.apply_edges([link], [link.id])
    writer.finish(2)
    assert [edge.id for edge in store.at(2).scan_edges()] == sorted(edge.id for edge in graph.edges)


def test_a_row_that_does_not_fit_its_hash_is_written_again_once_it_is_deleted(
    store: Neo4jGraphStore, ask: Callable[..., list[dict[str, Any]]]
) -> None:
    graph = make_graph()
    before = publish(store, 1, graph)
    ask("MATCH (v:SitegraphRev {ix: $ix}) SET v.title = 'other' REMOVE v.kind")
    ask("MATCH ()-[v {ix: $ix}]->() WHERE v.valid_to IS NOT NULL SET v.count = 99 REMOVE v.doc")
    damaged = store.at(1).damaged_rows()
    assert {*damaged} == {row.id for row in (*graph.nodes, *graph.edges)}
    writer = store.writer()
    writer.stage(2, base=1)
    writer.apply_nodes(graph.nodes, [node.id for node in graph.nodes])
    writer.apply_edges(graph.edges, [edge.id for edge in graph.edges])
    after = writer.finish(2)
    assert store.at(2).damaged_rows() == ()
    assert [(state.counts, state.digest) for state in after] == [
        (state.counts, state.digest) for state in before
    ]
    assert store.at(1).damaged_rows() == damaged


def test_a_changed_row_keeps_its_old_state_for_older_readers_until_that_is_pruned(
    store: Neo4jGraphStore, ask: Callable[..., list[dict[str, Any]]]
) -> None:
    page = make_page("https://site.test/a")
    for generation, title in enumerate(("one", "two", "three"), start=1):
        writer = store.writer()
        writer.stage(generation, base=generation - 1)
        writer.apply_nodes([replace(page, title=title)], [])
        writer.finish(generation)
    revisions = "MATCH (v:SitegraphRev {ix: $ix}) RETURN v.title AS title ORDER BY v.valid_from"
    assert [row["title"] for row in ask(revisions)] == ["one", "two", "three"]
    store.writer().prune(keep=[2, 3])
    assert [row["title"] for row in ask(revisions)] == ["two", "three"]


def test_pruning_removes_the_identity_of_what_is_gone(
    store: Neo4jGraphStore, ask: Callable[..., list[dict[str, Any]]]
) -> None:
    graph = make_graph()
    publish(store, 1, graph)
    writer = store.writer()
    writer.stage(2, base=1)
    writer.apply_nodes([], [node.id for node in graph.nodes])
    writer.apply_edges([], [edge.id for edge in graph.edges])
    writer.finish(2)
    writer.prune(keep=[2])
    assert ask("MATCH (v {ix: $ix}) RETURN v") == []


def test_a_reader_whose_generation_is_pruned_says_so_and_gives_no_part_of_it(store: Neo4jGraphStore) -> None:
    graph = make_graph()
    publish(store, 1, graph)
    pinned = store.at(1)
    publish(store, 2, make_graph("https://other.test"))
    store.writer().prune(keep=[2])
    with pytest.raises(StoreUnavailable, match=r"generation 1 .*it holds: 2\); read CURRENT"):
        pinned.nodes([graph.page.id])
    with pytest.raises(StoreUnavailable):
        list(pinned.scan_edges())


@pytest.mark.parametrize("rows", [100, pytest.param(reader._PAGE_ROWS, marks=pytest.mark.long)])
def test_a_scan_longer_than_a_page_gives_every_row_once(
    store: Neo4jGraphStore, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_PAGE_ROWS", rows)
    pages = [make_page(f"https://site.test/{n}") for n in range(rows + 1)]
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes(pages, [])
    writer.apply_edges([make_edge(EdgeKind.LINKS_TO, pages[0], page) for page in pages], [])
    writer.finish(1)
    seen = store.at(1)
    assert [node.id for node in seen.scan_nodes()] == sorted(page.id for page in pages)
    found = [edge.id for edge in seen.scan_edges()]
    assert (len(found), found) == (rows + 1, sorted(set(found)))
    assert [node.id for node in islice(seen.scan_nodes(), 2)] == sorted(page.id for page in pages)[:2]


def test_a_changed_property_a_lost_one_and_a_turned_edge_are_found_as_damage(
    store: Neo4jGraphStore, ask: Callable[..., list[dict[str, Any]]]
) -> None:
    graph = make_graph()
    publish(store, 1, graph)
    ask("MATCH (v:SitegraphRev {ix: $ix, id: $id}) SET v.title = 'other'", id=graph.page.id)
    ask("MATCH (v:SitegraphRev {ix: $ix, id: $id}) REMOVE v.bbox_json", id=graph.region.id)
    ask("MATCH ()-[v:SITEGRAPH_EDGE {ix: $ix, kind: 'links_to'}]->() SET v.count = 99")
    ask(
        "MATCH (a)-[v:SITEGRAPH_EDGE {ix: $ix, kind: 'parent_of'}]->(b) WITH a, b, v, properties(v) AS said "
        "DELETE v CREATE (b)-[w:SITEGRAPH_EDGE]->(a) SET w = said"
    )
    harmed = {edge.id for edge in graph.edges if edge.kind in (EdgeKind.LINKS_TO, EdgeKind.PARENT_OF)}
    assert {*store.at(1).damaged_rows()} == {graph.page.id, graph.region.id, *harmed}


def test_the_refused_edge_is_named_and_the_rest_of_its_batch_is_not_written(store: Neo4jGraphStore) -> None:
    graph, nowhere = make_graph(), make_page("https://site.test/never-written")
    writer = store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes(graph.nodes, [])
    dangling = make_edge(EdgeKind.LINKS_TO, graph.page, nowhere)
    with pytest.raises(DamageFound, match=nowhere.id) as error:
        writer.apply_edges([*graph.edges, dangling], [])
    assert error.value.subject == dangling.id
    assert writer.finish(1)[1].counts == {}


def test_an_edge_to_a_node_deleted_in_the_same_generation_is_refused(store: Neo4jGraphStore) -> None:
    graph = make_graph()
    publish(store, 1, graph)
    writer = store.writer()
    writer.stage(2, base=1)
    writer.apply_nodes([], [graph.pdf.id])
    with pytest.raises(DamageFound, match=graph.pdf.id):
        writer.apply_edges([make_edge(EdgeKind.DEPENDS_ON, graph.page, graph.pdf)], [])


def test_a_writer_that_staged_nothing_refuses_to_write(store: Neo4jGraphStore) -> None:
    with pytest.raises(StaleLease, match="stage"):
        store.writer().apply_nodes(make_graph().nodes, [])


def test_rolling_back_twice_and_pruning_in_between_loses_and_doubles_nothing(store: Neo4jGraphStore) -> None:
    first, bad, worse = (make_graph(f"https://{name}.test") for name in ("first", "bad", "worse"))
    good = publish(store, 1, first)
    writer = store.writer()
    for generation, junk in ((2, bad), (3, worse)):
        writer.stage(generation, base=1)
        writer.apply_nodes([*junk.nodes, replace(first.page, title=f"in {generation}")], [first.region.id])
        writer.apply_edges(junk.edges, [edge.id for edge in first.edges])
        writer.finish(generation)
    writer.prune(keep=[1, 3])
    assert publish(store, 4, base=1) == good
    assert store.at(1).state() == good
    assert store.at(3).nodes([first.page.id])[0] == replace(first.page, title="in 3")
    writer.prune(keep=[4])
    assert store.at(4).state() == good


def test_an_aborted_generation_after_a_rollback_leaves_the_rolled_back_one_readable(
    store: Neo4jGraphStore,
) -> None:
    first, bad = make_graph(), make_graph("https://bad.test")
    good, rolled_back = publish(store, 1, first), publish(store, 2, bad)
    writer = store.writer()
    writer.stage(3, base=1)
    writer.abort(3, base=1)
    assert [store.at(generation).state() for generation in (1, 2)] == [good, rolled_back]
    assert publish(store, 4, base=1) == good
    assert store.at(2).state() == rolled_back


def test_a_second_writer_with_the_same_new_rows_is_told(
    store: Neo4jGraphStore, ask: Callable[..., list[dict[str, Any]]]
) -> None:
    page = make_page("https://site.test/a")
    store.writer().stage(1, base=0)
    # What another process leaves between our look and our write: a row that ours would repeat.
    ask("CREATE (:SitegraphRev {ix: $ix, id: $id, valid_from: 1, valid_to: 0, row_sha256: 'x'})", id=page.id)
    with pytest.raises(StaleLease, match="another writer"):
        store.writer().apply_nodes([page], [])
