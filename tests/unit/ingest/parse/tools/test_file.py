"""A file of tools becomes a fragment."""

import json
import zlib

import pytest

from ingest.parse.tools import file
from ingest.parse.tools.file import parse_tools
from schemas.errors import ParseError
from schemas.fragment import GraphFragment
from schemas.nodes import Tool
from schemas.records import from_record, to_record
from schemas.source import ToolFormat

_OWN = b"tools:\n  - name: shop open\n    description: 'usage: see the manual'\n"
_OPENAPI = b"openapi: 3.0.0\npaths:\n  /carts:\n    get: {operationId: listCarts}\n"
_MCP = json.dumps({"tools": [{"name": "open_shop", "inputSchema": {"type": "object"}}]}).encode()
_HELP = b"Usage: shop [OPTIONS]\n\n  Runs: a shop.\n"
_INVENTORY = b"# Sphinx inventory version 2\n# Project: a\n# Version: 1\n# zlib\n" + zlib.compress(
    b"shop.Cart py:class 1 a.html#$ -\n"
)


def _parse(data: bytes, tool_format: ToolFormat | None = None) -> GraphFragment:
    return parse_tools(data, source="shop", path="tools.yaml", tool_format=tool_format)


def _tools(fragment: GraphFragment) -> list[Tool]:
    return [node for node in fragment.nodes if isinstance(node, Tool)]


@pytest.mark.parametrize(
    ("data", "name", "tool_type"),
    [
        (_OWN, "shop open", "tool"),
        (b"\xef\xbb\xbf" + _OWN, "shop open", "tool"),
        (_OPENAPI, "listCarts", "operation"),
        (json.dumps({"swagger": "2.0", "paths": {"/a": {"get": {}}}}).encode(), "GET /a", "operation"),
        (_MCP, "open_shop", "mcp"),
        (_HELP, "shop", "command"),
        (_INVENTORY, "shop.Cart", "py:class"),
    ],
)
def test_the_format_is_told_by_the_content(data: bytes, name: str, tool_type: str) -> None:
    assert [(tool.name, tool.tool_type) for tool in _tools(_parse(data))] == [(name, tool_type)]


def test_a_stated_format_wins() -> None:
    named = json.dumps({"tools": [{"name": "a", "input_schema": {}}], "result": {"tools": [{"name": "b"}]}})
    (tool,) = _tools(_parse(named.encode(), ToolFormat.MCP))
    assert tool.tool_type == "mcp"
    with pytest.raises(ParseError, match="result: unknown key"):
        _parse(named.encode(), ToolFormat.TOOLS)


def test_a_fragment_is_of_no_kind_and_survives_its_record() -> None:
    fragment = _parse(_OWN)
    assert fragment.kind is None
    assert (fragment.uri, fragment.chunks) == ("tools://shop/tools.yaml", ())
    assert from_record(GraphFragment, json.loads(json.dumps(to_record(fragment)))) == fragment


def test_an_id_depends_on_file_type_and_name_alone() -> None:
    (before,), (after,) = (
        _tools(_parse(b"tools: [{name: a, description: %s}]" % text)) for text in (b"one", b"two")
    )
    assert before.id == after.id
    assert before != after


def test_other_words_give_another_hash_and_another_order_does_not() -> None:
    one, two, three = (
        _parse(b"tools: [%s]" % x) for x in (b"{name: a}, {name: b}", b"{name: b}, {name: a}", b"{name: a}")
    )
    assert one == two
    assert one.content_hash != three.content_hash


def test_of_equal_names_the_first_counts() -> None:
    (tool,) = _tools(_parse(b"tools: [{name: a, description: one}, {name: a, description: two}]"))
    assert tool.description == "one"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no known format"),
        (b"hello", "no known format"),
        (b"[1, 2]", "no known format"),
        (b"tools: []", "describes no tool"),
        (b"\x00\xff\xfe", "not UTF-8 text"),
        (b"{", "not valid JSON"),
    ],
)
def test_what_describes_no_tools_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        _parse(data)


def test_a_large_file_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MAX_BYTES", 10)
    with pytest.raises(ParseError, match="larger than 10 bytes"):
        _parse(_OWN)


def test_too_many_tools_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MAX_TOOLS", 1)
    with pytest.raises(ParseError, match="more than 1 tools"):
        _parse(b"tools: [{name: a}, {name: b}]")
