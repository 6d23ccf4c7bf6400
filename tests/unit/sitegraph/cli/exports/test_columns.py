"""Columns follow the classes of nodes and edges."""

from dataclasses import fields

from schemas.edges import Edge
from schemas.nodes import NODE_TYPES
from sitegraph.cli.exports.columns import Column, ColumnType, edge_columns, fill, node_columns


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
