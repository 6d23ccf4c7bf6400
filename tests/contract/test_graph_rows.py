"""Nodes and edges that were stored: what comes back is what went in, in a stated order."""

from dataclasses import replace

from indexes.digests import edge_sha256, node_sha256
from indexes.lattice_hash import LatticeHash
from indexes.ports import GraphStore
from schemas.edges import EdgeKind
from tests.fakes.graph_generations import by_id, publish, publish_graph, same_content
from tests.fakes.graph_samples import make_edge, make_graph, make_page


def test_nodes_of_every_kind_come_back_equal(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    found = graph_store.at(1).nodes([*by_id(graph.nodes), "page:unknown", graph.page.id])
    assert found == tuple(sorted(graph.nodes, key=lambda node: node.id))


def test_edges_come_back_equal_with_all_their_properties(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    assert list(graph_store.at(1).scan_edges()) == sorted(graph.edges, key=lambda edge: edge.id)


def test_ids_of_a_range_come_in_order_up_to_a_limit(graph_store: GraphStore) -> None:
    graph = make_graph()
    publish_graph(graph_store, graph)
    reader, ids = graph_store.at(1), by_id(graph.nodes)
    assert reader.ids_between("", "~", limit=1000) == tuple(ids)
    assert reader.ids_between(ids[1], ids[3], limit=1000) == tuple(ids[1:3])
    assert reader.ids_between("", "~", limit=2) == tuple(ids[:2])
    assert reader.ids_between("page:", "page:", limit=2) == ()


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
    assert reader.edges_from(ends, kinds=[EdgeKind.SIMILAR_TO]) == ()
    assert reader.edges_from(["page:unknown"]) == reader.edges_to([]) == ()


def test_scans_take_one_source_or_all(graph_store: GraphStore) -> None:
    ours, theirs = make_graph(), make_graph("https://other.test", source='o\'neill "x"')
    publish(graph_store, 1, [*ours.nodes, *theirs.nodes], [*ours.edges, *theirs.edges])
    reader = graph_store.at(1)
    assert [node.id for node in reader.scan_nodes()] == by_id([*ours.nodes, *theirs.nodes])
    assert [node.id for node in reader.scan_nodes(source='o\'neill "x"')] == by_id(theirs.nodes)
    assert [edge.id for edge in reader.scan_edges(source="site")] == by_id(ours.edges)
    assert list(reader.scan_edges(source="none")) == []
    links = [edge for edge in ours.edges if edge.kind is EdgeKind.LINKS_TO]
    assert [e.id for e in reader.scan_edges(source="site", kinds=[EdgeKind.LINKS_TO])] == by_id(links)
    assert len(list(reader.scan_edges(kinds=EdgeKind))) == len(ours.edges) + len(theirs.edges)
    assert list(reader.scan_edges(kinds=[])) == []


def test_a_scan_has_no_default_limit(graph_store: GraphStore) -> None:
    pages = [make_page(f"https://site.test/{n}") for n in range(70)]
    publish(graph_store, 1, pages, [make_edge(EdgeKind.LINKS_TO, pages[0], page) for page in pages])
    reader = graph_store.at(1)
    assert (len(list(reader.scan_nodes())), len(reader.edges_from([pages[0].id]))) == (70, 70)


def test_quotes_and_unicode_in_ids_and_texts_are_data(graph_store: GraphStore) -> None:
    odd = "o'neill say \"x\" a`b 日本:λ x' OR '1'='1 back\\slash $p {}"
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
    assert nodes.counts == {
        "Chunk": 1,
        "Entity": 1,
        "Page": 1,
        "PdfDoc": 1,
        "PdfPage": 1,
        "PdfRegion": 1,
        "Section": 2,
        "Tool": 1,
    }
    assert edges.counts == {
        "contains": 4,
        "explained_by": 1,
        "links_to": 1,
        "materialized_from": 1,
        "mentions": 1,
        "parent_of": 1,
        "relates_to": 1,
    }
    reader = graph_store.at(1)
    assert reader.row_hashes() == (node_hashes, edge_hashes)
    assert nodes.rows == LatticeHash().plus(node_hashes.items())
    assert edges.rows == LatticeHash().plus(edge_hashes.items())
    assert same_content(reader.state(), (nodes, edges))
    assert reader.damaged_rows() == ()


def test_the_empty_index_answers_everything_with_nothing(graph_store: GraphStore) -> None:
    reader = graph_store.at(0)
    assert reader.nodes(["x"]) == reader.nodes_of(["x"]) == ()
    assert reader.edges_of(["x"]) == reader.edges_from(["x"]) == reader.edges_to(["x"]) == ()
    assert (list(reader.scan_nodes()), list(reader.scan_edges())) == ([], [])
    assert (reader.row_hashes(), reader.damaged_rows()) == (({}, {}), ())
    assert [(dict(state.counts), state.rows) for state in reader.state()] == [({}, LatticeHash())] * 2
