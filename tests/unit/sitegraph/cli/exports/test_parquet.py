"""Parquet files as another tool reads them."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from indexes.ports import GraphReader
from sitegraph.cli.exports import graph_rows
from sitegraph.cli.exports.graph_rows import graph_pages
from sitegraph.cli.exports.parquet import write_parquet


def test_rows_come_back_with_their_types_in_pages(
    graph: GraphReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_rows, "PAGE", 2)
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
