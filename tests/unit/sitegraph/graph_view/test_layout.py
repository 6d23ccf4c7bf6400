"""Where the nodes of a picture stand."""

from sitegraph.graph_view.layout import Cell, lay_out
from tests.fakes.shown_graphs import shown_edge, shown_graph


def test_a_column_is_a_hop_and_no_two_nodes_share_a_place() -> None:
    graph = shown_graph({"a": 0, "b": 1, "c": 1, "d": 2}, shown_edge("a", "b"), shown_edge("c", "a"))
    cells = lay_out(graph)
    assert {name: cell.column for name, cell in cells.items()} == {"a": 0, "b": 1, "c": 1, "d": 2}
    assert len(set(cells.values())) == 4


def test_nodes_stand_near_those_they_were_reached_from() -> None:
    graph = shown_graph(
        {"r": 0, "a": 1, "b": 1, "y": 2, "z": 2},
        *(shown_edge("r", name) for name in ("a", "b")),
        shown_edge("a", "z"),
        shown_edge("b", "y"),
    )
    cells = lay_out(graph)
    assert (cells["z"], cells["y"]) == (Cell(2, 0), Cell(2, 1))


def test_nothing_has_no_places() -> None:
    assert lay_out(shown_graph({})) == {}
