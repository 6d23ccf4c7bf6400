"""Bytes of a file that describes tools > its fragment: Tool nodes and nothing else."""

from collections.abc import Iterable
from dataclasses import asdict

from ingest.parse.tools.description import MAX_TOOLS, ToolDescription, load_json, load_yaml, tidy
from ingest.parse.tools.documented import HEADER, USAGE, parse_help, parse_inventory
from ingest.parse.tools.lists import parse_mcp, parse_openapi, parse_tools_yaml
from ingest.urls import tools_url
from schemas.errors import ParseError
from schemas.fragment import GraphFragment
from schemas.ids import record_sha256, tool_id, tools_doc_id
from schemas.nodes import Tool
from schemas.records import to_record
from schemas.source import ToolFormat

MAX_BYTES = 16 * 1024 * 1024
"""Of one file, as it lies on disk."""


def parse_tools(
    data: bytes, *, source: str, path: str, tool_format: ToolFormat | None = None
) -> GraphFragment:
    """Read the tools of one file; *path* is relative to the source file's folder.

    The format is told by what the file says, unless it is given. Of tools of one type and name the first
    counts.

    Raises: ParseError: it is not what it claims to be, of no known format, or beyond a limit.
    """
    doc = tools_doc_id(tools_url(source, path))
    tools = [_node(found, doc, source, path) for found in _read(data, tool_format)]
    if not tools:
        raise ParseError("describes no tool")
    return tools_fragment({tool.id: tool for tool in reversed(tools)}.values())


def tools_fragment(tools: Iterable[Tool]) -> GraphFragment:
    """Return the fragment of one file from all of its tools, in whatever order."""
    nodes = tuple(sorted(tools, key=lambda tool: tool.id))
    first = nodes[0]
    return GraphFragment(
        uri=tools_url(first.source, first.path),
        doc=first.doc,
        kind=None,
        content_hash=record_sha256([to_record(tool) for tool in nodes]),
        nodes=nodes,
        edges=(),
        chunks=(),
    )


def _node(found: ToolDescription, doc: str, source: str, path: str) -> Tool:
    tool = tidy(found)
    return Tool(
        id=tool_id(doc, tool.tool_type, tool.name),
        doc=doc,
        source=source,
        path=path,
        **asdict(tool),
    )


def _read(data: bytes, tool_format: ToolFormat | None) -> tuple[ToolDescription, ...]:
    if len(data) > MAX_BYTES:
        raise ParseError(f"is larger than {MAX_BYTES} bytes")
    if tool_format is ToolFormat.INVENTORY or (tool_format is None and data.startswith(HEADER)):
        return parse_inventory(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParseError("is not UTF-8 text") from None
    found = _read_text(text, tool_format)
    if len(found) > MAX_TOOLS:
        raise ParseError(f"describes more than {MAX_TOOLS} tools")
    return found


def _read_text(text: str, tool_format: ToolFormat | None) -> tuple[ToolDescription, ...]:
    if tool_format is ToolFormat.HELP:
        return parse_help(text)
    if text.lstrip().startswith(("{", "[")):
        return _read_tree(load_json(text), tool_format)
    if tool_format is None and USAGE.search(text) and not _has_top_key(text):
        return parse_help(text)
    return _read_tree(load_yaml(text), tool_format)


def _has_top_key(text: str) -> bool:
    return any(line.startswith(("tools:", "openapi:", "swagger:")) for line in text.splitlines())


def _read_tree(tree: object, tool_format: ToolFormat | None) -> tuple[ToolDescription, ...]:
    match tool_format or _format_of(tree):
        case ToolFormat.OPENAPI:
            return parse_openapi(tree)
        case ToolFormat.MCP:
            return parse_mcp(tree)
        case _:
            return parse_tools_yaml(tree)


def _format_of(tree: object) -> ToolFormat:
    if isinstance(tree, dict):
        if "openapi" in tree or "swagger" in tree:
            return ToolFormat.OPENAPI
        tools = tree.get("tools")
        if "jsonrpc" in tree or "result" in tree or (isinstance(tools, list) and _is_mcp(tools)):
            return ToolFormat.MCP
        if "tools" in tree:
            return ToolFormat.TOOLS
    raise ParseError(
        "is of no known format; say which with `format:` (tools, openapi, mcp, help or inventory)"
    )


def _is_mcp(tools: list[object]) -> bool:
    return any(isinstance(tool, dict) and "inputSchema" in tool for tool in tools)
