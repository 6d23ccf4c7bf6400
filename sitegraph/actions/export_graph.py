"""The graph of a generation as rows, as GraphML and as Parquet files."""

import json
import re
import types
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Union, get_args, get_origin, get_type_hints
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from indexes.ports import GraphReader
from schemas.edges import Edge
from schemas.nodes import NODE_TYPES, BBox, Node, PageSize
from schemas.records import node_to_record, to_record
from sitegraph.actions.neighbourhood import shown_label


class ColumnType(StrEnum):
    """What a column contains; STRUCTURE is anything else, as JSON."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRINGS = "strings"
    NUMBERS = "numbers"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class Column:
    """A name and what stands under it; every column may be empty."""

    name: str
    type: ColumnType


_SCALARS = {bool: ColumnType.BOOLEAN, int: ColumnType.INTEGER, float: ColumnType.NUMBER}
_LISTS = {str: ColumnType.STRINGS, int: ColumnType.NUMBERS, float: ColumnType.NUMBERS}


@cache
def node_columns() -> tuple[Column, ...]:
    """`id`, `kind` and `label`, then every field of any kind of node, by name."""
    found = {name: type_ for cls in NODE_TYPES.values() for name, type_ in _columns(cls).items()}
    rest = (Column(name, found[name]) for name in sorted(found) if name not in ("id", "kind", "label"))
    return (*(Column(name, ColumnType.STRING) for name in ("id", "kind", "label")), *rest)


@cache
def edge_columns() -> tuple[Column, ...]:
    """`id`, `src`, `dst` and `kind`, then the other fields of an edge, by name."""
    found = _columns(Edge)
    first = ("id", "src", "dst", "kind")
    return tuple(Column(name, found[name]) for name in (*first, *sorted(found.keys() - set(first))))


def fill(record: dict[str, Any], columns: tuple[Column, ...]) -> dict[str, Any]:
    """Return a value for every column: None where the record has none, JSON text for a structure."""
    return {column.name: _value(record.get(column.name), column.type) for column in columns}


def _value(value: Any, type_: ColumnType) -> Any:
    if value is None or type_ is not ColumnType.STRUCTURE:
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _columns(cls: type[Any]) -> dict[str, ColumnType]:
    hints = get_type_hints(cls)
    return {field.name: _type(hints[field.name]) for field in fields(cls)}


def _type(hint: Any) -> ColumnType:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg is not type(None)]
        return _type(inner[0]) if len(inner) == 1 else ColumnType.STRUCTURE
    if origin is tuple:
        return _LISTS.get(args[0], ColumnType.STRUCTURE)
    if hint in (BBox, PageSize):
        return ColumnType.NUMBERS
    if isinstance(hint, type) and issubclass(hint, str):
        return ColumnType.STRING
    return _SCALARS.get(hint, ColumnType.STRUCTURE)


Row = dict[str, Any]
PAGE = 1000


@dataclass(frozen=True, slots=True)
class RowPage:
    """Up to PAGE rows of nodes, or of edges; the ends of every edge have come before it."""

    nodes: tuple[Row, ...] = ()
    edges: tuple[Row, ...] = ()


def graph_pages(graph: GraphReader, *, source: str | None = None) -> Iterator[RowPage]:
    """Yield nodes in id order, then edges in id order.

    With *source*, its nodes and edges alone, and before a page of edges those nodes of other sources that
    they lead to.
    """
    for nodes in _paged(graph.scan_nodes(source=source)):
        yield RowPage(nodes=_node_rows(nodes))
    outside: set[str] = set()
    for edges in _paged(graph.scan_edges(source=source)):
        if source is not None and (more := _others(graph, edges, source, outside)):
            yield RowPage(nodes=_node_rows(more))
        yield RowPage(edges=tuple(fill(to_record(edge), edge_columns()) for edge in edges))


def _others(graph: GraphReader, edges: Iterable[Edge], source: str, given: set[str]) -> list[Node]:
    """Ends of *edges* that are nodes of other sources and not yet *given*, which takes them up."""
    ends = {end for edge in edges for end in (edge.src, edge.dst)} - given
    found = [node for node in graph.nodes(ends) if node.source != source]
    given |= {node.id for node in found}
    return found


def _node_rows(nodes: Iterable[Node]) -> tuple[Row, ...]:
    return tuple(fill({**node_to_record(node), "label": shown_label(node)}, node_columns()) for node in nodes)


def _paged(values: Iterator[Any]) -> Iterator[list[Any]]:
    while page := list(islice(values, PAGE)):
        yield page


_GRAPHML_TYPES = {
    ColumnType.INTEGER: "long",
    ColumnType.NUMBER: "double",
    ColumnType.BOOLEAN: "boolean",
}
"""Attribute types of GraphML; all else is a string, lists as JSON."""

_ENDS = frozenset({"id", "src", "dst"})
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may contain (XML 1.0, 2.2); shown as U+FFFD."""


def write_graphml(pages: Iterable[RowPage], out: BinaryIO) -> None:
    """Write the pages as they come: a directed graph with typed keys; empty values are left out."""
    xml = XMLGenerator(out, encoding="utf-8", short_empty_elements=True)
    xml.startDocument()
    _start(xml, "graphml", {"xmlns": "http://graphml.graphdrawing.org/xmlns"})
    for column in node_columns():
        _key(xml, "node", column)
    for column in edge_columns():
        _key(xml, "edge", column)
    _start(xml, "graph", {"id": "sitegraph", "edgedefault": "directed"})
    for page in pages:
        for row in page.nodes:
            _element(xml, "node", {"id": row["id"]}, row)
        for row in page.edges:
            _element(xml, "edge", {"id": row["id"], "source": row["src"], "target": row["dst"]}, row)
    xml.endElement("graph")
    xml.endElement("graphml")
    xml.endDocument()


def _start(xml: XMLGenerator, name: str, attributes: dict[str, str]) -> None:
    xml.startElement(name, AttributesImpl(attributes))


def _key(xml: XMLGenerator, of: str, column: Column) -> None:
    if column.name not in _ENDS:
        type_ = _GRAPHML_TYPES.get(column.type, "string")
        named = {"id": f"{of}-{column.name}", "for": of, "attr.name": column.name, "attr.type": type_}
        _start(xml, "key", named)
        xml.endElement("key")


def _element(xml: XMLGenerator, of: str, attributes: dict[str, str], row: Row) -> None:
    xml.ignorableWhitespace("\n")
    _start(xml, of, attributes)
    for name, value in row.items():
        if name not in _ENDS and value not in (None, []):
            _start(xml, "data", {"key": f"{of}-{name}"})
            xml.characters(_FORBIDDEN.sub("\ufffd", _text(value)))
            xml.endElement("data")
    xml.endElement(of)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


NODES_FILE, EDGES_FILE = "nodes.parquet", "edges.parquet"

_ARROW_TYPES = {
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
    return pa.schema([pa.field(column.name, _ARROW_TYPES[column.type]) for column in columns])


def _write(file: ParquetWriter, rows: tuple[Row, ...], schema: pa.Schema) -> None:
    if rows:
        file.write_table(pa.Table.from_pylist(list(rows), schema=schema))
