"""Answers to `tools/list`."""

import pytest

from ingest.parse.tools.lists import parse_mcp
from schemas.errors import ParseError

_TOOL = {
    "name": "get_forecast",
    "title": "Weather forecast",
    "description": "Tells the weather of the next days.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def test_a_tool_keeps_title_parameters_and_schema() -> None:
    (tool,) = parse_mcp({"jsonrpc": "2.0", "id": 1, "result": {"tools": [_TOOL]}})
    assert (tool.name, tool.tool_type, tool.options) == ("get_forecast", "mcp", ("city",))
    assert "Weather forecast" in tool.aliases
    schema = '{"properties":{"city":{"type":"string"}},"required":["city"],"type":"object"}'
    assert tool.input_schema == schema


def test_the_envelope_may_be_missing_and_new_keys_are_passed_over() -> None:
    assert parse_mcp({"tools": [{**_TOOL, "_meta": {"x": 1}}]}) == parse_mcp({"result": {"tools": [_TOOL]}})


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({"error": {"code": -32601}}, "error of an MCP server"),
        ({"result": {"tools": [_TOOL], "nextCursor": "p2"}}, "one page"),
        ({"tools": {"a": 1}}, "tools: should be a list"),
        ({"tools": [{"description": "x"}]}, r"tools\.0\.name: is required"),
        ({"tools": [{"name": 3}]}, r"tools\.0\.name: should be a text"),
        ({"tools": ["get"]}, r"tools\.0: should be a mapping"),
        ({"tools": [{"name": "a", "inputSchema": []}]}, r"tools\.0\.inputSchema: should be a mapping"),
    ],
)
def test_a_broken_answer_names_the_key(tree: object, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        parse_mcp(tree)
