"""What every graph store promises; the promises stand in indexes/ports.py."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from indexes.digests import digest, edge_sha256, node_sha256
from indexes.ports import GraphStore, StoreState
from schemas.edges import Edge, EdgeKind
from schemas.errors import DamageFound, StoreUnavailable
from schemas.nodes import ChunkNode, Node
from tests.fakes.graph_samples import SampleGraph, make_edge, make_graph, make_page

States = tuple[StoreState, StoreState]


def publish(
    store: GraphStore,
    generation: int,
    nodes: Collection[Node] = (),
    edges: Collection[Edge] = (),
    *,
    gone_nodes: Collection[str] = (),
    gone_edges: Collection[str] = (),
    base: int = -1,
) -> States:
    """Stage, apply and finish on top of *base*, the generation before unless given."""
    writer = store.writer()
    writer.stage(generation, base=generation - 1 if base < 0 else base)
    writer.apply_nodes(iter(nodes), gone_nodes)
    writer.apply_edges(iter(edges), gone_edges)
    return writer.finish(generation)


def publish_graph(store: GraphStore, graph: SampleGraph, generation: int = 1) -> States:
    return publish(store, generation, graph.nodes, graph.edges)


def same_content(one: States, other: States) -> bool:
    return [(s.counts, s.digest) for s in one] == [(s.counts, s.digest) for s in other]


def by_id(items: Collection[Node] | Collection[Edge]) -> list[str]:
    return sorted(item.id for item in items)


# --- what comes back is what went in


def test_nodes_of_every_kind_come_back_equal(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    found = graph_store.at(1).nodes([*by_id(graph.nodes), "page:unknown", graph.page.id])
    assert found == tuple(sorted(graph.nodes, key=lambda node: node.id))


def test_edges_come_back_equal_with_all_their_properties(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    assert list(graph_store.at(1).scan_edges()) == sorted(graph.edges, key=lambda edge: edge.id)


def test_nodes_and_edges_of_documents_come_in_id_order(graph_store: GraphStore) -> None:
    graph, other = make_graph(), make_graph("https://other.test")
    publish(graph_store, 1, [*graph.nodes, *other.nodes], [*graph.edges, *other.edges])
    reader, docs = graph_store.at(1), [graph.pdf.id, other.page.id, "page:unknown"]
    everything = [*graph.nodes, *other.nodes]
    assert [n.id for n in reader.nodes_of(docs)] == by_id([n for n in everything if n.doc in docs])
    assert [e.id for e in reader.edges_of(docs)] == by_id(
        [e for e in (*graph.edges, *other.edges) if e.doc in docs]
    )
    assert (reader.nodes_of([]), reader.edges_of([])) == ((), ())


def test_edges_leave_and_enter_in_the_order_promised(graph_store: GraphStore) -> None:
    hub, *rest = (make_page(f"https://site.test/{n}") for n in range(8))
    out = [make_edge(kind, hub, page) for page in rest for kind in (EdgeKind.LINKS_TO, EdgeKind.DEPENDS_ON)]
    back = [make_edge(EdgeKind.LINKS_TO, page, hub, anchor_text=text) for page in rest for text in ("b", "a")]
    publish(graph_store, 1, [hub, *rest], [*out, *back])
    reader = graph_store.at(1)
    assert list(reader.edges_from([hub.id])) == sorted(out, key=lambda e: (e.src, e.kind, e.dst, e.id))
    assert list(reader.edges_to([hub.id])) == sorted(back, key=lambda e: (e.dst, e.kind, e.src, e.id))
    several = [page.id for page in (hub, *rest)]
    assert list(reader.edges_from(several)) == sorted(
        [*out, *back], key=lambda e: (e.src, e.kind, e.dst, e.id)
    )
    assert list(reader.edges_to(several)) == sorted([*out, *back], key=lambda e: (e.dst, e.kind, e.src, e.id))


def test_edges_are_kept_by_kind_and_unknown_ids_add_none(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    reader, ends = graph_store.at(1), [*by_id(graph.nodes), "page:unknown"]
    wanted = {EdgeKind.LINKS_TO, EdgeKind.PARENT_OF}
    assert {edge.kind for edge in reader.edges_from(ends, kinds=wanted)} == wanted
    assert {edge.kind for edge in reader.edges_to(ends, kinds=[EdgeKind.EXPLAINED_BY])} == {
        EdgeKind.EXPLAINED_BY
    }
    assert reader.edges_from(ends, kinds=[]) == ()
    assert reader.edges_from(ends, kinds=[EdgeKind.MENTIONS]) == ()
    assert reader.edges_from(["page:unknown"]) == reader.edges_to([]) == ()


def test_scans_take_one_source_or_all(graph_store: GraphStore) -> None:
    ours, theirs = make_graph(), make_graph("https://other.test", source='o\'neill "x"')
    publish(graph_store, 1, [*ours.nodes, *theirs.nodes], [*ours.edges, *theirs.edges])
    reader = graph_store.at(1)
    assert [node.id for node in reader.scan_nodes()] == by_id([*ours.nodes, *theirs.nodes])
    assert [node.id for node in reader.scan_nodes(source='o\'neill "x"')] == by_id(theirs.nodes)
    assert [edge.id for edge in reader.scan_edges(source="site")] == by_id(ours.edges)
    assert list(reader.scan_edges(source="none")) == []


def test_a_scan_has_no_default_limit(graph_store: GraphStore) -> None:
    pages = [make_page(f"https://site.test/{n}") for n in range(70)]
    publish(graph_store, 1, pages, [make_edge(EdgeKind.LINKS_TO, pages[0], page) for page in pages])
    reader = graph_store.at(1)
    assert (len(list(reader.scan_nodes())), len(reader.edges_from([pages[0].id]))) == (70, 70)


@pytest.mark.parametrize(
    "odd", ["o'neill", 'say "x"', "a`b", "日本:λ", "x' OR '1'='1", "back\\slash", "$p {}"]
)
def test_quotes_and_unicode_in_ids_and_texts_are_data(graph_store: GraphStore, odd: str) -> None:
    plain = make_page("https://site.test/plain")
    page = replace(plain, id=odd, doc=odd, title=odd, source=odd)
    link = make_edge(EdgeKind.LINKS_TO, page, plain, anchor_text=odd)
    publish(graph_store, 1, [plain, page], [link])
    reader = graph_store.at(1)
    assert (reader.nodes([odd]), reader.nodes_of([odd])) == ((page,), (page,))
    assert reader.edges_from([odd]) == reader.edges_of([odd]) == reader.edges_to([plain.id]) == (link,)
    publish(graph_store, 2, gone_nodes=[odd], gone_edges=[link.id])
    assert by_id(tuple(graph_store.at(2).scan_nodes())) == [plain.id]


def test_state_counts_kinds_and_digests_rows(graph_store: GraphStore) -> None:
    graph = make_graph()
    nodes, edges = publish_graph(graph_store, graph)
    node_hashes = {node.id: node_sha256(node) for node in graph.nodes}
    edge_hashes = {edge.id: edge_sha256(edge) for edge in graph.edges}
    assert nodes.counts == {"Chunk": 1, "Page": 1, "PdfDoc": 1, "PdfPage": 1, "PdfRegion": 1, "Section": 2}
    assert edges.counts == {
        "contains": 4,
        "explained_by": 1,
        "links_to": 1,
        "materialized_from": 1,
        "parent_of": 1,
    }
    reader = graph_store.at(1)
    assert reader.row_hashes() == (node_hashes, edge_hashes)
    assert (nodes.digest, edges.digest) == (digest(node_hashes), digest(edge_hashes))
    assert same_content(reader.state(), (nodes, edges))
    assert reader.damaged_rows() == ()


def test_the_empty_index_answers_everything_with_nothing(graph_store: GraphStore) -> None:
    reader = graph_store.at(0)
    assert reader.nodes(["x"]) == reader.nodes_of(["x"]) == ()
    assert reader.edges_of(["x"]) == reader.edges_from(["x"]) == reader.edges_to(["x"]) == ()
    assert (list(reader.scan_nodes()), list(reader.scan_edges())) == ([], [])
    assert (reader.row_hashes(), reader.damaged_rows()) == (({}, {}), ())
    assert [(dict(state.counts), state.digest) for state in reader.state()] == [({}, digest({}))] * 2


# --- writing


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


# --- generations


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
