"""Generations of a graph store: each is whole, apart from the others, and can be taken back."""

from dataclasses import replace

import pytest

from indexes.ports import GraphStore
from schemas.edges import EdgeKind
from schemas.errors import StoreUnavailable
from schemas.nodes import ChunkNode
from tests.fakes.graph_generations import by_id, publish, publish_graph, same_content
from tests.fakes.graph_samples import DIM, make_edge, make_graph, make_page
from tests.fakes.memory_stores import MemoryChunkStore


def test_two_generations_are_read_side_by_side(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    old = graph_store.at(1)
    link = next(edge for edge in graph.edges if edge.kind is EdgeKind.LINKS_TO)
    changed = replace(graph.chunk, content_hash="c1")
    publish(graph_store, 2, [changed], gone_edges=[link.id])
    new = graph_store.at(2)
    assert [reader.nodes([changed.id])[0] for reader in (old, new)] == [graph.chunk, changed]
    assert [len(reader.edges_to([graph.pdf.id])) for reader in (old, new)] == [1, 0]
    assert list(graph_store.at(0).scan_nodes()) == []


def test_a_node_that_went_and_came_back_was_away_in_between(graph_store: GraphStore) -> None:
    page, other = make_page("https://site.test/a"), make_page("https://site.test/b")
    link = make_edge(EdgeKind.LINKS_TO, other, page)
    publish(graph_store, 1, [page, other], [link])
    publish(graph_store, 2, gone_nodes=[page.id], gone_edges=[link.id])
    publish(graph_store, 3, [page], [link])
    seen = [
        (len(graph_store.at(n).nodes([page.id])), len(graph_store.at(n).edges_to([page.id])))
        for n in (1, 2, 3)
    ]
    assert seen == [(1, 1), (0, 0), (1, 1)]


def test_a_generation_that_never_was_is_unavailable(graph_store: GraphStore) -> None:
    publish_graph(graph_store, make_graph())
    with pytest.raises(StoreUnavailable):
        graph_store.at(7)


def test_abort_leaves_no_trace(graph_store: GraphStore) -> None:
    graph = make_graph()
    before = publish_graph(graph_store, graph)
    writer = graph_store.writer()
    writer.stage(2, base=1)
    added = make_page("https://site.test/added")
    writer.apply_nodes([added, replace(graph.page, title="Changed")], [graph.region.id])
    writer.apply_edges(
        [make_edge(EdgeKind.LINKS_TO, graph.page, added)], [edge.id for edge in graph.edges[:6]]
    )
    writer.abort(2, base=1)
    writer.abort(2, base=1)
    with pytest.raises(StoreUnavailable):
        graph_store.at(2)
    assert same_content(graph_store.at(1).state(), before)
    assert same_content(publish(graph_store, 3, base=1), before)
    assert list(graph_store.at(3).scan_edges()) == sorted(graph.edges, key=lambda edge: edge.id)


def test_staging_after_an_abandoned_apply_starts_from_the_base(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    abandoned = graph_store.writer()
    abandoned.stage(2, base=1)
    abandoned.apply_nodes([make_page("https://site.test/half-done")], [])
    abandoned.apply_edges([], [edge.id for edge in graph.edges])
    added = make_page("https://site.test/added")
    publish(graph_store, 2, [added])
    reader = graph_store.at(2)
    assert set(reader.scan_nodes()) == {*graph.nodes, added}
    assert set(reader.scan_edges()) == set(graph.edges)


def test_replaying_a_finished_generation_gives_the_same_rows(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    gone = [graph.edges[-1].id]
    changed = replace(graph.page, title="Two")
    first = publish(graph_store, 2, [changed], gone_edges=gone)
    assert same_content(publish(graph_store, 2, [changed], gone_edges=gone), first)
    assert same_content(graph_store.at(2).state(), first)


def test_after_a_rollback_the_next_generation_builds_on_the_older_one(graph_store: GraphStore) -> None:
    graph = make_graph()
    first = publish_graph(graph_store, graph)
    bad, good = make_page("https://site.test/bad"), make_page("https://site.test/good")
    publish(
        graph_store,
        2,
        [bad, replace(graph.page, title="Bad")],
        [make_edge(EdgeKind.LINKS_TO, graph.page, bad)],
        gone_nodes=[graph.region.id],
        gone_edges=[edge.id for edge in graph.edges if graph.region.id in (edge.src, edge.dst)],
    )
    link = make_edge(EdgeKind.LINKS_TO, graph.page, good)
    publish(graph_store, 3, [good], [link], base=1)
    third = graph_store.at(3)
    assert set(third.scan_nodes()) == {*graph.nodes, good}
    assert set(third.scan_edges()) == {*graph.edges, link}
    assert same_content(graph_store.at(1).state(), first)
    assert bad in set(graph_store.at(2).scan_nodes())


def test_prune_keeps_what_is_kept_readable_and_nothing_else(graph_store: GraphStore) -> None:
    pages = [make_page(f"https://site.test/{n}") for n in range(6)]
    states = {}
    for n in range(1, 6):
        link = make_edge(EdgeKind.LINKS_TO, pages[n], pages[n])
        states[n] = publish(
            graph_store, n, [pages[n]], [link], gone_nodes=[pages[n - 1].id] if n == 3 else []
        )
    writer = graph_store.writer()
    writer.prune(keep=[4, 5])
    writer.prune(keep=[4, 5])
    for generation in (1, 2, 3):
        with pytest.raises(StoreUnavailable):
            graph_store.at(generation)
    for generation in (4, 5):
        assert same_content(graph_store.at(generation).state(), states[generation])
    assert publish(graph_store, 6, [pages[2]])[0].counts == {"Page": 5}


def test_sources_share_a_store_without_touching_each_other(graph_store: GraphStore) -> None:
    ours, theirs = make_graph(), make_graph("https://other.test", source="other")
    publish_graph(graph_store, ours)
    publish_graph(graph_store, theirs, 2)
    publish(graph_store, 3, gone_nodes=by_id(ours.nodes), gone_edges=by_id(ours.edges))
    reader = graph_store.at(3)
    assert set(reader.scan_nodes()) == set(theirs.nodes)
    assert set(reader.scan_edges()) == set(theirs.edges)


def test_ids_number_more_than_one_page_of_a_query(graph_store: GraphStore) -> None:
    hub = make_page("https://site.test/")
    leaves = [
        ChunkNode(id=f"chunk:{n:05d}", doc=hub.id, source="site", content_hash=str(n)) for n in range(2500)
    ]
    edges = [make_edge(EdgeKind.CONTAINS, hub, leaf) for leaf in leaves]
    publish(graph_store, 1, [hub, *leaves], edges)
    reader = graph_store.at(1)
    assert reader.nodes([leaf.id for leaf in reversed(leaves)]) == tuple(leaves)
    found = reader.edges_to([leaf.id for leaf in leaves])
    assert [edge.dst for edge in found] == [leaf.id for leaf in leaves]
    assert len(list(reader.scan_nodes())) == 2501


def test_showing_a_generation_to_people_changes_nothing_for_readers(graph_store: GraphStore) -> None:
    graph = make_graph()
    first = publish_graph(graph_store, graph)
    old = graph_store.at(1)
    publish(graph_store, 2, [replace(graph.chunk, content_hash="c1")], gone_edges=[graph.edges[-1].id])
    for generation in (1, 1, 2, 1):
        graph_store.show(generation, lambda: MemoryChunkStore(dim=DIM).at(0))
        assert graph_store.shows(generation)
        assert same_content(old.state(), first)
        assert set(old.scan_edges()) == set(graph.edges)
        assert len(list(graph_store.at(2).scan_edges())) == len(graph.edges) - 1


def test_maintenance_changes_nothing_that_readers_of_any_generation_see(graph_store: GraphStore) -> None:
    graph = make_graph()
    first = publish_graph(graph_store, graph)
    second = publish(graph_store, 2, gone_edges=[graph.edges[0].id])

    graph_store.writer().maintain(2, fence=lambda: None)

    assert [graph_store.at(number).state() for number in (1, 2)] == [first, second]
    third = publish(graph_store, 3, [make_page("https://site.test/third")])
    assert graph_store.at(3).state() == third
    assert len(tuple(graph_store.at(3).scan_edges())) == len(graph.edges) - 1
