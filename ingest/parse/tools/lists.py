"""Lists of tools in JSON or YAML: our own `tools.yaml`, the answer of an MCP server, OpenAPI.

Sources: Model Context Protocol, revision 2025-06-18, server features, tools; OpenAPI Specification 3.1,
sections 4.8.8 to 4.8.12; Swagger 2.0, "Operation Object". Every operation of OpenAPI is a tool.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.parse.tools.description import (
    ToolDescription,
    as_list,
    as_mapping,
    as_text,
    as_texts,
    schema_text,
)
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
    return tuple(_own_tool(item, f"tools.{number}") for number, item in enumerate(tools))


def _own_tool(item: Any, where: str) -> ToolDescription:
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
    return tuple(_mcp_tool(item, f"tools.{number}") for number, item in enumerate(tools))


def _mcp_tool(item: Any, where: str) -> ToolDescription:
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


METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MAX_NESTING = 6
"""Schemas within schemas that are put in place of their reference; deeper ones may be anything."""

_MAX_PARTS = 2_000
"""Parts of schemas put in place for one operation: references can be doubled at every level."""

Json = Mapping[str, Any]


def parse_openapi(tree: Any) -> tuple[ToolDescription, ...]:
    """Return the operations in the order of their paths, named by `operationId`, else by method and path.

    Raises: ParseError: names the place that is wrong.
    """
    document = as_mapping(tree, "the file")
    base = as_text(document.get("basePath"), "basePath").rstrip("/")
    return tuple(
        _operation(document, path, method, item, base)
        for path, item in sorted(as_mapping(document.get("paths"), "paths").items())
        for method in METHODS
        if method in as_mapping(item, f"paths.{path}")
    )


def _operation(document: Json, path: str, method: str, item: Json, base: str) -> ToolDescription:
    where = f"paths.{path}.{method}"
    operation = as_mapping(item[method], where)
    endpoint = f"{method.upper()} {path}"
    name = as_text(operation.get("operationId"), f"{where}.operationId") or endpoint
    resolver = Resolver(document)
    parameters = [
        resolver.follow(one, f"{where}.parameters")
        for one in (*as_list(item.get("parameters"), where), *as_list(operation.get("parameters"), where))
    ]
    schema = _input_schema(parameters, operation, resolver, where)
    texts = (as_text(operation.get(key), f"{where}.{key}") for key in ("summary", "description"))
    return ToolDescription(
        name=name,
        tool_type="operation",
        aliases=(endpoint,),
        options=tuple(as_mapping(schema.get("properties"), where)),
        endpoints=(endpoint, f"{method.upper()} {base}{path}"),
        description=" ".join(text for text in texts if text),
        input_schema=schema_text(schema),
    )


def _input_schema(
    parameters: list[Json], operation: Json, resolver: "Resolver", where: str
) -> dict[str, Any]:
    """One object with a property for each parameter, and `body` for what is sent."""
    properties: dict[str, Any] = {}
    required: set[str] = set()
    for one in parameters:
        in_body = one.get("in") == "body"
        name = "body" if in_body else as_text(one.get("name"), f"{where}.parameters.name")
        stated = one.get("schema") or {"type": one["type"]} if "type" in one or "schema" in one else {}
        properties[name] = resolver.inline(stated)
        if one.get("required") is True:
            required.add(name)
    body = resolver.follow(operation.get("requestBody"), f"{where}.requestBody")
    content = as_mapping(body.get("content"), f"{where}.requestBody.content")
    if content:
        media = as_mapping(content.get("application/json") or content[min(content)], where)
        properties["body"] = resolver.inline(media.get("schema") or {})
        required |= {"body"} if body.get("required") is True else set()
    return {"type": "object", "properties": properties, "required": sorted(required)}


class Resolver:
    """Puts what stands elsewhere in the document in place of its reference (RFC 6901), for one operation."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._left = _MAX_PARTS

    def follow(self, value: Any, where: str) -> Json:
        """Return what a mapping with `$ref` stands for."""
        stated = as_mapping(value, where)
        for _ in range(_MAX_NESTING):
            if not isinstance(stated.get("$ref"), str):
                return stated
            stated = as_mapping(self.find(stated["$ref"]), where)
        raise ParseError(f"{where}: a chain of $ref that does not end")

    def inline(self, schema: Any, depth: int = 0) -> Any:
        """Return a schema without references; what is nested too deep, or in itself, may be anything."""
        self._left -= 1
        if self._left < 0 or depth > 4 * _MAX_NESTING:
            return {}
        if isinstance(schema, list):
            return [self.inline(one, depth + 1) for one in schema]
        if not isinstance(schema, dict):
            return schema
        if isinstance(schema.get("$ref"), str):
            return self.inline(self.find(schema["$ref"]), depth + 4)
        return dict(self._inlined(schema, depth))

    def _inlined(self, schema: Json, depth: int) -> Iterator[tuple[str, Any]]:
        for key, value in schema.items():
            if key not in ("example", "examples", "xml", "externalDocs"):
                yield key, self.inline(value, depth + 1)

    def find(self, reference: str) -> Any:
        """Return what a reference leads to. Raises: ParseError: it leads out of the file, or nowhere."""
        if not reference.startswith("#/"):
            raise ParseError(
                f"$ref {reference[:80]!r} leads out of the file; bundle the document into one file"
            )
        at: Any = self._document
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(at, dict) or key not in at:
                raise ParseError(f"$ref {reference[:80]!r} leads nowhere")
            at = at[key]
        return at
