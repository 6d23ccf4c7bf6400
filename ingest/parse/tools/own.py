"""`tools.yaml`, the format of our own: a list of tools under the key `tools`."""

from typing import Any

from ingest.parse.tools.description import ToolDescription, schema_text
from ingest.parse.tools.tree import as_list, as_mapping, as_text, as_texts
from schemas.errors import ParseError

_KEYS = ("name", "type", "aliases", "description", "options", "endpoints", "input_schema")


def parse_tools_yaml(tree: Any) -> tuple[ToolDescription, ...]:
    """Return the tools of a file; docs/tools.md says what it may contain.

    Raises: ParseError: names the key that is unknown or wrong.
    """
    file = as_mapping(tree, "the file")
    for key in file:
        if key != "tools":
            raise ParseError(f"{key}: unknown key; known: tools")
    tools = as_list(file.get("tools"), "tools")
    return tuple(_tool(item, f"tools.{number}") for number, item in enumerate(tools))


def _tool(item: Any, where: str) -> ToolDescription:
    stated = as_mapping(item, where)
    for key in stated:
        if key not in _KEYS:
            raise ParseError(f"{where}.{key}: unknown key; known: {', '.join(_KEYS)}")
    name = as_text(stated.get("name"), f"{where}.name")
    if not name.strip():
        raise ParseError(f"{where}.name: is required")
    schema = stated.get("input_schema")
    properties = as_mapping(as_mapping(schema, f"{where}.input_schema").get("properties"), where)
    return ToolDescription(
        name=name,
        tool_type=as_text(stated.get("type"), f"{where}.type") or "tool",
        aliases=as_texts(stated.get("aliases"), f"{where}.aliases"),
        options=(*as_texts(stated.get("options"), f"{where}.options"), *properties),
        endpoints=as_texts(stated.get("endpoints"), f"{where}.endpoints"),
        description=as_text(stated.get("description"), f"{where}.description"),
        input_schema=schema_text(schema),
    )
