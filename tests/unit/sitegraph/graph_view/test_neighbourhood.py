"""A neighbourhood as text, DOT and SVG, and where its boxes stand."""

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph.surroundings import OmittedNodes
from schemas.edges import EdgeKind
from sitegraph.actions.neighbourhood import (
    Cell,
    lay_out,
    quote,
    render_dot,
    render_svg,
    render_tree,
    say_left_out,
)
from tests.fakes.shown_graphs import shown_edge, shown_graph, shown_node


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


QUOTED = r'"(?:[^"\\]|\\.)*"'


def unquote(quoted: str) -> str:
    """What Graphviz shows for a quoted label: the lexer takes `\\"`, the label its other escapes."""
    assert re.fullmatch(QUOTED, quoted, re.DOTALL)
    return re.sub(
        r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], quoted[1:-1], flags=re.DOTALL
    )


@given(st.text())
def test_a_quoted_text_is_shown_as_it_is(text: str) -> None:
    assert unquote(quote(text)) == text


def test_nodes_are_named_by_their_ids_and_no_label_ends_the_quotes() -> None:
    evil = shown_node("b", 1, 'say "hi\\" ]; rm [x=\\N')
    lines = render_dot(shown_graph((shown_node("a", 0), evil), shown_edge("a", "b"))).splitlines()
    assert lines[0] == "digraph sitegraph {"
    assert lines[3:] == [
        '  "a" [label="Page\\nA", style=bold];',
        '  "b" [label="Page\\nsay \\"hi\\\\\\" ]; rm [x=\\\\N"];',
        '  "a" -> "b" [label="links_to"];',
        "}",
    ]
    statement = rf"  {QUOTED}(?: -> {QUOTED})? \[label={QUOTED}(?:, style=bold)?\];"
    assert all(re.fullmatch(statement, line) for line in lines[3:-1])


def test_the_picture_says_what_was_left_out() -> None:
    graph = shown_graph({"a": 0}, left_out=(OmittedNodes(hop=1, kind=EdgeKind.NEXT, nodes=2),))
    assert '  label="left out by --limit 4: 2 nodes (2 by next at hop 1)";' in render_dot(graph).splitlines()


SVG = "{http://www.w3.org/2000/svg}"


def test_a_box_a_node_an_arrow_an_edge_and_a_legend_of_kinds() -> None:
    left = (OmittedNodes(hop=1, kind=EdgeKind.NEXT, nodes=3),)
    graph = shown_graph(
        {"a": 0, "b": 1, "c": 1},
        shown_edge("a", "b"),
        shown_edge("c", "a", EdgeKind.DEPENDS_ON),
        left_out=left,
    )
    picture = ET.fromstring(render_svg(graph))
    assert [box.get("id") for box in picture.iter(f"{SVG}g")] == ["a", "b", "c"]
    titles = [path.findtext(f"{SVG}title") for path in picture.findall(f"{SVG}path")]
    assert titles == ["a links_to b", "c depends_on a"]
    legend = [text.text for text in picture.findall(f"{SVG}text")]
    assert legend == ["depends_on", "links_to", "left out by --limit 4: 3 nodes (3 by next at hop 1)"]


def test_everything_lies_inside_the_picture() -> None:
    picture = ET.fromstring(render_svg(shown_graph({"a": 0, "b": 1, "c": 2, "d": 2})))
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    for box in picture.iter(f"{SVG}rect"):
        x, y, wide, high = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + high <= height


def test_a_label_cannot_become_markup_and_a_long_one_is_cut() -> None:
    evil = shown_node("a", 0, '<script>alert("&")</script>')
    long = shown_node("b", 1, "word " * 11 + "end")
    picture = ET.fromstring(render_svg(shown_graph((evil, long))))
    assert list(picture.iter(f"{SVG}script")) == []
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert '<script>alert("&")</script>' in texts
    assert any(text and text.endswith("…") and len(text) == 40 for text in texts)


def test_equal_graphs_are_equal_bytes() -> None:
    graph = shown_graph({"a": 0, "b": 1, "c": 1}, shown_edge("a", "b"), shown_edge("b", "c"))
    assert render_svg(graph) == render_svg(graph)
