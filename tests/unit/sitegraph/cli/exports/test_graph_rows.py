"""Pages of rows: no edge before its ends, nothing twice, whatever part of the graph is wanted."""

from collections.abc import Iterable

import pytest

from indexes.ports import GraphReader
from sitegraph.cli.exports import graph_rows
from sitegraph.cli.exports.graph_rows import RowPage, graph_pages


def ids(pages: Iterable[RowPage]) -> list[str]:
    return [row["id"] for page in pages for row in (*page.nodes, *page.edges)]


def test_nodes_then_edges_each_in_id_order(graph: GraphReader) -> None:
    assert ids(graph_pages(graph)) == [
        *("page:a", "page:b", "pdfpage:p", "pdfregion:r", "section:s"),
        *("e1", "e2", "e3", "e4"),
    ]


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_source_brings_the_nodes_its_edges_lead_to_once_and_before_them(
    graph: GraphReader, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_rows, "PAGE", size)
    found = ids(graph_pages(graph, source="one"))
    assert sorted(found) == ["e1", "e2", "e3", "page:a", "page:b", "pdfpage:p", "pdfregion:r", "section:s"]
    assert found.index("page:b") < found.index("e2")


def test_no_page_is_larger_than_asked_for(graph: GraphReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_rows, "PAGE", 2)
    assert {len(page.nodes) + len(page.edges) for page in graph_pages(graph)} == {1, 2}


def test_an_empty_source_has_no_rows(graph: GraphReader) -> None:
    assert ids(graph_pages(graph, source="nobody")) == []


def test_a_node_has_a_label(graph: GraphReader) -> None:
    (first, *_) = graph_pages(graph)
    assert [row["label"] for row in first.nodes] == [
        'Q&A <"b">\ufffd\ufffd',
        "Zürich 𝔘",
        "page 4",
        "t",
        "Head",
    ]
