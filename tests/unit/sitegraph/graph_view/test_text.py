"""A neighbourhood as a person reads it in a terminal."""

from retrieval.graph.neighbourhood import OmittedNodes
from schemas.edges import EdgeKind
from sitegraph.graph_view.text import render_tree, say_left_out
from tests.fakes.shown_graphs import shown_edge, shown_graph


def test_each_node_hangs_under_the_one_it_was_reached_from_and_arrows_show_the_way() -> None:
    graph = shown_graph(
        {"a": 0, "b": 1, "c": 1, "d": 2}, shown_edge("a", "b"), shown_edge("c", "a"), shown_edge("b", "d")
    )
    assert render_tree(graph).splitlines() == [
        "Page  A  [a]",
        "  --links_to--> Page  B  [b]",
        "    --links_to--> Page  D  [d]",
        "  <--links_to-- Page  C  [c]",
    ]


def test_edges_beside_the_tree_and_what_was_left_out_come_after_it() -> None:
    graph = shown_graph(
        {"a": 0, "b": 1},
        shown_edge("a", "b"),
        shown_edge("b", "a", EdgeKind.DEPENDS_ON),
        left_out=(OmittedNodes(hop=1, kind=EdgeKind.CONTAINS, nodes=7),),
    )
    assert render_tree(graph).splitlines()[2:] == [
        "",
        "also",
        "  B [b] --depends_on--> A [a]",
        "",
        "left out by --limit 4: 7 nodes (7 by contains at hop 1)",
    ]


def test_nothing_is_said_where_nothing_was_left_out() -> None:
    assert say_left_out(shown_graph({"a": 0})) == ""
