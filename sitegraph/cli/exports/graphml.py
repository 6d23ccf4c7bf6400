"""A graph as GraphML, for Gephi, yEd, igraph and NetworkX.

Source: graphml.graphdrawing.org, "GraphML Primer".
"""

import json
import re
from collections.abc import Iterable
from typing import Any, BinaryIO
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from sitegraph.cli.exports.columns import Column, ColumnType, edge_columns, node_columns
from sitegraph.cli.exports.graph_rows import Row, RowPage

_TYPES = {
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
        type_ = _TYPES.get(column.type, "string")
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
