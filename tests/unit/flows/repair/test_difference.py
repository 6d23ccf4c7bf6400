"""Which rows of a graph are written, deleted and left alone, by their hashes."""

from collections.abc import Iterable
from dataclasses import replace

from flows.repair.rows import RepairedGraph, StoredRows, repaired_graph
from indexes.digests import edge_sha256, node_sha256
from schemas.changes import RowChanges
from schemas.edges import Edge, EdgeKind
from schemas.nodes import Node
from tests.fakes.graph_generations import publish
from tests.fakes.graph_samples import make_edge, make_page
from tests.fakes.memory_stores import MemoryGraphStore

A, B, C = (make_page(f"https://site.test/{name}") for name in "abc")
LINK = make_edge(EdgeKind.LINKS_TO, A, B)
WANTED = RowChanges(nodes=(A, B), edges=(LINK,))


def graph_of(nodes: Iterable[Node], edges: Iterable[Edge], *damaged: str) -> RepairedGraph:
    """A graph of these rows, some of which do not fit their hash."""
    return RepairedGraph(
        nodes=StoredRows(hashes={n.id: node_sha256(n) for n in nodes}, damaged=frozenset(damaged)),
        edges=StoredRows(hashes={e.id: edge_sha256(e) for e in edges}, damaged=frozenset(damaged)),
    )


def test_a_whole_graph_is_left_alone() -> None:
    graph = graph_of([A, B], [LINK])
    assert not graph.select(WANTED)
    assert not graph.strays()


def test_lost_rows_are_written() -> None:
    graph = graph_of([A], [])
    assert graph.select(WANTED) == RowChanges(nodes=(B,), edges=(LINK,))
    assert not graph.strays()


def test_a_row_with_another_hash_is_written_over() -> None:
    graph = graph_of([replace(A, title="Other"), B], [replace(LINK, count=9)])
    assert graph.select(WANTED) == RowChanges(nodes=(A,), edges=(LINK,))


def test_a_row_that_does_not_fit_its_hash_is_deleted_and_written() -> None:
    graph = graph_of([A, B], [LINK], A.id, LINK.id)
    assert graph.select(WANTED) == RowChanges(
        nodes=(A,), node_deletes=(A.id,), edges=(LINK,), edge_deletes=(LINK.id,)
    )


def test_rows_that_nothing_gives_are_deleted() -> None:
    invented = make_edge(EdgeKind.LINKS_TO, B, C)
    graph = graph_of([A, B, C], [LINK, invented], invented.id)
    assert not graph.select(WANTED)
    assert graph.strays() == RowChanges(node_deletes=(C.id,), edge_deletes=(invented.id,))


def test_rows_of_documents_of_which_nothing_is_known_stay_with_the_ends_of_their_edges() -> None:
    edge = make_edge(EdgeKind.LINKS_TO, B, C)
    graph = graph_of([A, B, C], [edge])
    graph.select(RowChanges(nodes=(A,)))
    graph.keep([B], [edge])
    assert not graph.strays()


def test_passages_go_through() -> None:
    assert graph_of([], []).select(RowChanges(chunk_deletes=("chunk:a",))).chunk_deletes == ("chunk:a",)


def test_hashes_are_read_from_a_graph() -> None:
    store = MemoryGraphStore()
    publish(store, 1, [A, B], [LINK])
    graph = repaired_graph(store.at(1))
    assert not graph.select(WANTED)
    assert not graph.strays()
