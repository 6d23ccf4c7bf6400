"""Writing nodes and edges: what one apply does, and what is refused."""

from dataclasses import replace

import pytest

from indexes.ports import GraphStore
from schemas.edges import EdgeKind
from schemas.errors import DamageFound
from tests.fakes.graph_generations import publish, publish_graph, same_content
from tests.fakes.graph_samples import make_edge, make_graph, make_page


def test_delete_and_upsert_go_in_one_apply(graph_store: GraphStore) -> None:
    stays, goes, changes, comes = (make_page(f"https://site.test/{n}") for n in range(4))
    publish(graph_store, 1, [stays, goes, changes], [make_edge(EdgeKind.LINKS_TO, stays, changes)])
    changed = replace(changes, title="Changed", status="retired")
    publish(graph_store, 2, [changed, comes], gone_nodes=[goes.id, "page:never-there"])
    reader = graph_store.at(2)
    assert set(reader.scan_nodes()) == {stays, changed, comes}
    assert [edge.dst for edge in reader.edges_from([stays.id])] == [changed.id]


def test_an_id_both_upserted_and_deleted_stays(graph_store: GraphStore) -> None:
    page = make_page("https://site.test/a")
    loop = make_edge(EdgeKind.LINKS_TO, page, page)
    publish(graph_store, 1, [page], [loop])
    new = replace(page, title="New")
    publish(graph_store, 2, [new], [replace(loop, count=9)], gone_nodes=[page.id], gone_edges=[loop.id])
    reader = graph_store.at(2)
    assert (list(reader.scan_nodes()), [edge.count for edge in reader.scan_edges()]) == ([new], [9])


def test_an_empty_apply_changes_nothing(graph_store: GraphStore) -> None:
    first = publish_graph(graph_store, make_graph())
    assert same_content(publish(graph_store, 2), first)


def test_equal_rows_in_one_apply_do_not_double(graph_store: GraphStore) -> None:
    graph = make_graph()
    once = publish_graph(graph_store, graph)
    other = make_graph("https://other.test")
    twice = publish(
        graph_store, 2, [*graph.nodes, *graph.nodes, *other.nodes * 2], [*graph.edges * 2, *other.edges * 2]
    )
    assert [sum(state.counts.values()) for state in twice] == [
        2 * sum(state.counts.values()) for state in once
    ]
    assert len(list(graph_store.at(2).scan_edges())) == 2 * len(graph.edges)


def test_applying_and_finishing_again_gives_the_same_state(graph_store: GraphStore) -> None:
    graph = make_graph()
    writer = graph_store.writer()
    writer.stage(1, base=0)
    states = []
    for _ in range(2):
        writer.apply_nodes(graph.nodes, ["page:x"])
        writer.apply_edges(graph.edges, ["edge:x"])
        states.append(writer.finish(1))
    assert same_content(*states)
    assert same_content(graph_store.at(1).state(), states[0])


def test_an_edge_without_an_end_is_refused_and_nothing_is_written(graph_store: GraphStore) -> None:
    here, nowhere = make_page("https://site.test/a"), make_page("https://site.test/never-written")
    writer = graph_store.writer()
    writer.stage(1, base=0)
    writer.apply_nodes([here], [])
    with pytest.raises(DamageFound):
        writer.apply_edges([make_edge(EdgeKind.LINKS_TO, here, nowhere)], [])
    with pytest.raises(DamageFound):
        writer.apply_edges([make_edge(EdgeKind.LINKS_TO, nowhere, here)], [])
    assert writer.finish(1)[1].counts == {}
