"""Rows held in memory: found by what they are called, or not held at all where they would not fit."""

import itertools
from pathlib import Path

import pyarrow as pa
import pytest
from lancedb.table import Table

from indexes.stores.lance.held import HeldEdges, HeldRows, hold_chunks, hold_graph, size_of_chunks
from indexes.stores.lance.tables import (
    CHUNK_FIELDS,
    CHUNKS,
    EDGE_SCHEMA,
    EDGES,
    NODE_SCHEMA,
    NODES,
    chunk_schema,
    connect,
    create_table,
)

IDS = ["page:b", "page:a", "日本:λ", "o'neill", ""]
DIM = 4


@pytest.fixture
def held(tmp_path: Path) -> tuple[Table, Table]:
    """Tables of nodes and edges, each of the latter from a node to the next."""
    create_table(tmp_path, NODES, NODE_SCHEMA)
    create_table(tmp_path, EDGES, EDGE_SCHEMA)
    nodes, edges = (connect(tmp_path).open_table(name) for name in (NODES, EDGES))
    nodes.add(pa.Table.from_pylist([{"id": id_, "doc": IDS[0], "kind": "page"} for id_ in IDS], NODE_SCHEMA))
    ends = itertools.pairwise(IDS)
    rows = [
        {"id": f"{src}>{dst}", "kind": kind, "src": src, "dst": dst, "doc": src, "source": "s", "props": "{}"}
        for src, dst in ends
        for kind in ("contains", "links_to")
    ]
    edges.add(
        pa.Table.from_pylist([{**row, "id": f"{row['id']} {row['kind']}"} for row in rows], EDGE_SCHEMA)
    )
    return nodes, edges


def hold(tables: tuple[Table, Table], most_bytes: int) -> tuple[HeldRows, HeldEdges] | None:
    nodes, edges = tables
    columns = {"node_columns": NODE_SCHEMA.names, "edge_columns": EDGE_SCHEMA.names}
    return hold_graph(nodes, edges, **columns, most_bytes=most_bytes)


def test_rows_are_found_by_id_and_by_document_whatever_they_are_called(held: tuple[Table, Table]) -> None:
    found = hold(held, 1 << 20)
    assert found
    nodes, edges = found
    assert {row["id"] for row in nodes.records("id", ["日本:λ", "", "page:", "none"])} == {"日本:λ", ""}
    assert {row["id"] for row in nodes.records("doc", [IDS[0], IDS[0]])} == set(IDS)
    assert nodes.records("doc", ["page:a"]) == nodes.records("id", []) == []
    assert sorted(edges.columns("dst", ["page:a", "日本:λ"], {"links_to"})["src"]) == ["page:a", "page:b"]
    assert len(edges.columns("src", ["page:a"], None)["id"]) == 2
    assert edges.columns("src", [IDS[-1]], None)["id"] == []
    assert edges.columns("src", ["page:a"], {"mentions"})["id"] == []


def test_what_takes_more_memory_than_allowed_is_not_held(held: tuple[Table, Table], tmp_path: Path) -> None:
    assert hold(held, 1000) is None
    create_table(tmp_path, CHUNKS, chunk_schema(DIM))
    chunks = connect(tmp_path).open_table(CHUNKS)
    assert hold_chunks(chunks, CHUNK_FIELDS, DIM, most_bytes=1 << 20) is None, "nothing is there to be held"
    rows = [{"id": id_, "doc": "page:d", "text_vector": [1.0, 0.0, 0.0, 0.0]} for id_ in IDS]
    chunks.add(pa.Table.from_pylist(rows, chunk_schema(DIM)))
    assert hold_chunks(chunks, CHUNK_FIELDS, DIM, most_bytes=64) is None
    whole = hold_chunks(chunks, CHUNK_FIELDS, DIM, most_bytes=1 << 20)
    assert whole
    assert whole.within(["page:d"])[1].shape == (len(IDS), DIM)


def test_chunks_take_no_more_than_was_estimated(tmp_path: Path) -> None:
    create_table(tmp_path, CHUNKS, chunk_schema(DIM))
    chunks = connect(tmp_path).open_table(CHUNKS)
    assert size_of_chunks(chunks, CHUNK_FIELDS, DIM) == 0
    rows = [
        {"id": f"chunk:{n:026}", "doc": "page:d", "text": "a word " * (n % 9), "text_vector": [1.0] * DIM}
        for n in range(20_000)
    ]
    chunks.add(pa.Table.from_pylist(rows, chunk_schema(DIM)))
    estimated = size_of_chunks(chunks, CHUNK_FIELDS, DIM)
    assert hold_chunks(chunks, CHUNK_FIELDS, DIM, most_bytes=estimated)
    assert hold_chunks(chunks, CHUNK_FIELDS, DIM, most_bytes=estimated // 2) is None
