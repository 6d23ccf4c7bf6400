"""The graph as rows, as GraphML and as Parquet."""

import io
import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import networkx
import pyarrow.parquet as pq
import pytest

from indexes.ports import GraphReader
from schemas.edges import Edge
from schemas.nodes import NODE_TYPES
from sitegraph.actions import export_graph
from sitegraph.actions.export_graph import (
    Column,
    ColumnType,
    RowPage,
    edge_columns,
    fill,
    graph_pages,
    node_columns,
    write_graphml,
    write_parquet,
)


def test_every_field_of_every_kind_of_node_and_of_an_edge_has_one_column() -> None:
    names = [column.name for column in node_columns()]
    assert len(names) == len(set(names))
    assert set(names) == {"kind", "label"} | {f.name for cls in NODE_TYPES.values() for f in fields(cls)}
    assert {column.name for column in edge_columns()} == {field.name for field in fields(Edge)}


def test_a_column_has_the_type_of_its_field() -> None:
    types = {column.name: column.type for column in node_columns()}
    assert types["title"] is types["kind"] is types["document_kind"] is ColumnType.STRING
    assert types["page_no"] is ColumnType.INTEGER
    assert types["ocr_conf"] is ColumnType.NUMBER
    assert types["stale"] is ColumnType.BOOLEAN
    assert types["heading_path"] is ColumnType.STRINGS
    assert types["bbox"] is types["page_size"] is ColumnType.NUMBERS


def test_a_row_has_every_column_and_structures_are_json() -> None:
    columns = (Column("a", ColumnType.STRING), Column("b", ColumnType.STRUCTURE))
    assert fill({"b": {"z": 1, "c": [2]}, "x": 3}, columns) == {"a": None, "b": '{"c": [2], "z": 1}'}


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
    monkeypatch.setattr(export_graph, "PAGE", size)
    found = ids(graph_pages(graph, source="one"))
    assert sorted(found) == ["e1", "e2", "e3", "page:a", "page:b", "pdfpage:p", "pdfregion:r", "section:s"]
    assert found.index("page:b") < found.index("e2")


def test_no_page_is_larger_than_asked_for(graph: GraphReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_graph, "PAGE", 2)
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


def test_rows_come_back_with_their_types_in_pages(
    graph: GraphReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_graph, "PAGE", 2)
    write_parquet(graph_pages(graph), tmp_path)

    nodes = pq.ParquetFile(tmp_path / "nodes.parquet")
    assert (nodes.metadata.num_rows, nodes.num_row_groups) == (5, 3)
    by_id = {row["id"]: row for row in nodes.read().to_pylist()}
    assert by_id["section:s"]["heading_path"] == ["Top", "Head"]
    assert by_id["pdfregion:r"]["bbox"] == [1, 2, 3.5, 4]
    assert (by_id["page:b"]["stale"], by_id["page:b"]["url"]) == (True, None)

    edges = pq.read_table(tmp_path / "edges.parquet").to_pylist()
    assert [(row["id"], row["src"], row["dst"], row["count"]) for row in edges] == [
        ("e1", "page:a", "section:s", 1),
        ("e2", "page:a", "page:b", 2),
        ("e3", "page:a", "page:b", 3),
        ("e4", "page:b", "page:a", 1),
    ]


def test_an_empty_graph_is_two_files_without_rows(tmp_path: Path) -> None:
    write_parquet(iter(()), tmp_path)
    assert [pq.read_table(tmp_path / f"{name}.parquet").num_rows for name in ("nodes", "edges")] == [0, 0]


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
