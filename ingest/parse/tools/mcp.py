"""The answer of an MCP server to `tools/list`, with or without its JSON-RPC envelope.

Source: Model Context Protocol, revision 2025-06-18, server features, tools.
"""

from typing import Any

from ingest.parse.tools.description import ToolDescription, schema_text
from ingest.parse.tools.tree import as_list, as_mapping, as_text
from schemas.errors import ParseError


def parse_mcp(tree: Any) -> tuple[ToolDescription, ...]:
    """Return the tools of an answer; keys that the protocol adds are passed over.

    Raises: ParseError: it is no such answer, an error, or only a page of one.
    """
    answer = as_mapping(tree, "the file")
    if "error" in answer:
        raise ParseError("is the error of an MCP server, no list of tools")
    result = as_mapping(answer["result"], "result") if "result" in answer else answer
    if result.get("nextCursor"):
        raise ParseError("nextCursor: is only one page of the list; put all pages' tools into one file")
    tools = as_list(result.get("tools"), "tools")
    return tuple(_tool(item, f"tools.{number}") for number, item in enumerate(tools))


def _tool(item: Any, where: str) -> ToolDescription:
    stated = as_mapping(item, where)
    name = as_text(stated.get("name"), f"{where}.name")
    if not name.strip():
        raise ParseError(f"{where}.name: is required")
    notes = as_mapping(stated.get("annotations"), f"{where}.annotations")
    titles = (
        as_text(stated.get("title"), f"{where}.title"),
        as_text(notes.get("title"), f"{where}.annotations.title"),
    )
    schema = as_mapping(stated.get("inputSchema"), f"{where}.inputSchema")
    return ToolDescription(
        name=name,
        tool_type="mcp",
        aliases=titles,
        options=tuple(as_mapping(schema.get("properties"), f"{where}.inputSchema.properties")),
        description=as_text(stated.get("description"), f"{where}.description"),
        input_schema=schema_text(dict(schema)) if schema else None,
    )
