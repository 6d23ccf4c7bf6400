"""DOT that says exactly what the labels say, whatever stands in them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph.neighbourhood import OmittedNodes
from schemas.edges import EdgeKind
from sitegraph.graph_view.dot import quote, render_dot
from tests.fakes.shown_graphs import shown_edge, shown_graph, shown_node

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
