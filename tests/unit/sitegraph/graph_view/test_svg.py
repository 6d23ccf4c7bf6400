"""The picture of a neighbourhood, read back as the XML it is."""

import xml.etree.ElementTree as ET

from retrieval.graph.neighbourhood import OmittedNodes
from schemas.edges import EdgeKind
from sitegraph.graph_view.svg import render_svg
from tests.fakes.shown_graphs import shown_edge, shown_graph, shown_node

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
