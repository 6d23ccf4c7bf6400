"""A graph as two Parquet files, for pandas, Polars, DuckDB and Spark."""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from sitegraph.cli.exports.columns import Column, ColumnType, edge_columns, node_columns
from sitegraph.cli.exports.graph_rows import Row, RowPage

NODES_FILE, EDGES_FILE = "nodes.parquet", "edges.parquet"

_TYPES = {
    ColumnType.STRING: pa.string(),
    ColumnType.INTEGER: pa.int64(),
    ColumnType.NUMBER: pa.float64(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.STRINGS: pa.list_(pa.string()),
    ColumnType.NUMBERS: pa.list_(pa.float64()),
    ColumnType.STRUCTURE: pa.string(),
}


def write_parquet(pages: Iterable[RowPage], folder: Path) -> None:
    """Write `nodes.parquet` and `edges.parquet` into *folder*, a row group a page."""
    nodes, edges = _schema(node_columns()), _schema(edge_columns())
    with ExitStack() as stack:
        node_file = stack.enter_context(ParquetWriter(folder / NODES_FILE, nodes, compression="zstd"))
        edge_file = stack.enter_context(ParquetWriter(folder / EDGES_FILE, edges, compression="zstd"))
        for page in pages:
            _write(node_file, page.nodes, nodes)
            _write(edge_file, page.edges, edges)


def _schema(columns: Iterable[Column]) -> pa.Schema:
    return pa.schema([pa.field(column.name, _TYPES[column.type]) for column in columns])


def _write(file: ParquetWriter, rows: tuple[Row, ...], schema: pa.Schema) -> None:
    if rows:
        file.write_table(pa.Table.from_pylist(list(rows), schema=schema))
