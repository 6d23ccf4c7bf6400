"""GraphML as another tool reads it."""

import io
import json
from typing import Any

import networkx
import pytest

from indexes.ports import GraphReader
from sitegraph.cli.exports.graph_rows import graph_pages
from sitegraph.cli.exports.graphml import write_graphml


@pytest.fixture
def read(graph: GraphReader) -> Any:
    """What NetworkX makes of the whole graph."""
    return networkx.parse_graphml(written(graph).decode(), force_multigraph=True)


def written(graph: GraphReader, **options: str) -> bytes:
    out = io.BytesIO()
    write_graphml(graph_pages(graph, **options), out)
    return out.getvalue()


def test_nodes_and_edges_keep_their_ids_and_parallel_edges_are_kept(read: Any) -> None:
    assert read.is_directed()
    assert set(read.nodes) == {"page:a", "page:b", "section:s", "pdfpage:p", "pdfregion:r"}
    assert sorted((key, src, dst) for src, dst, key in read.edges(keys=True)) == [
        ("e1", "page:a", "section:s"),
        ("e2", "page:a", "page:b"),
        ("e3", "page:a", "page:b"),
        ("e4", "page:b", "page:a"),
    ]


def test_values_come_back_with_their_types(read: Any) -> None:
    section, region, link = (
        read.nodes["section:s"],
        read.nodes["pdfregion:r"],
        read.edges["page:a", "page:b", "e3"],
    )
    assert (section["kind"], section["level"], section["label"]) == ("Section", 2, "Head")
    assert section["text"] == "  two\nlines "
    assert json.loads(section["heading_path"]) == ["Top", "Head"]
    assert (region["ocr_conf"], json.loads(region["bbox"])) == (0.25, [1, 2, 3.5, 4])
    assert (read.nodes["page:b"]["stale"], read.nodes["page:a"]["stale"]) == (True, False)
    assert (link["count"], link["confidence"], link["position"], link["anchor_text"]) == (
        3,
        0.5,
        "nav",
        "a > b",
    )


def test_what_is_empty_is_left_out_and_what_xml_forbids_is_marked(read: Any) -> None:
    assert "url" not in read.nodes["page:a"]
    assert read.nodes["page:a"]["title"] == 'Q&A <"b">\ufffd\ufffd'
    assert read.nodes["page:b"]["title"] == "Zürich 𝔘"


def test_an_empty_graph_is_a_graph() -> None:
    out = io.BytesIO()
    write_graphml(iter(()), out)
    assert len(networkx.parse_graphml(out.getvalue().decode())) == 0


def test_every_end_is_a_node_of_the_file_also_for_one_source(graph: GraphReader) -> None:
    read = networkx.parse_graphml(written(graph, source="one").decode())
    assert all(data.get("kind") for _, data in read.nodes(data=True))


def test_equal_graphs_are_equal_bytes(graph: GraphReader) -> None:
    assert written(graph) == written(graph)
