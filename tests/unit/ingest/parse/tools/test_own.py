"""`tools.yaml`."""

import pytest

from ingest.parse.tools.lists import parse_tools_yaml
from schemas.errors import ParseError


def test_a_tool_says_what_it_is_called_and_what_it_takes() -> None:
    (tool,) = parse_tools_yaml(
        {
            "tools": [
                {
                    "name": "shop restock",
                    "type": "command",
                    "aliases": ["restock"],
                    "description": "Orders what runs low.",
                    "options": ["--dry-run"],
                    "endpoints": ["POST /restock"],
                    "input_schema": {"type": "object", "properties": {"shelf": {"type": "integer"}}},
                }
            ]
        }
    )
    assert (tool.name, tool.tool_type, tool.aliases) == ("shop restock", "command", ("restock",))
    assert set(tool.options) == {"--dry-run", "shelf"}
    assert tool.endpoints == ("POST /restock",)


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({"tols": []}, "tols: unknown key; known: tools"),
        ({"tools": [{"nme": "x"}]}, r"tools\.0\.nme: unknown key"),
        ({"tools": [{"aliases": ["x"]}]}, r"tools\.0\.name: is required"),
        ({"tools": [{"name": "x", "options": [1]}]}, r"tools\.0\.options\.0: should be a text"),
        ({"tools": [{"name": True}]}, r"tools\.0\.name: should be a text"),
        (["x"], "the file: should be a mapping"),
    ],
)
def test_a_wrong_file_names_the_key(tree: object, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        parse_tools_yaml(tree)
