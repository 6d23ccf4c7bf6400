"""Clients of an MCP server as agents have them: the library's own, called from tests that do not wait."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.session import IncomingMessage

REPO = Path(__file__).resolve().parents[2]
SECONDS = 120.0
"""Only bounds a hang."""


@dataclass(slots=True)
class AgentClient:
    """A client that is connected; `heard` are the notifications that came without being asked for."""

    portal: BlockingPortal
    client: Client
    heard: list[types.ServerNotification] = field(default_factory=list)

    def call(self, name: str, **arguments: Any) -> types.CallToolResult:
        """Call a tool; the client checks what it gives against the schema that the server stated."""
        result: types.CallToolResult = self.portal.call(self.client.call_tool, name, arguments)
        return result

    def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that answers, and give its record."""
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        record: dict[str, Any] = result.structured_content
        return record

    def refusal(self, name: str, **arguments: Any) -> str:
        """Call a tool that refuses, and give what it says."""
        result = self.call(name, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)

    def read(self, uri: str) -> Any:
        """Read a resource and give its contents."""
        (contents,) = self.portal.call(self.client.read_resource, uri).contents
        return contents

    def updated(self) -> list[str]:
        """URIs of the resources that the server has said are changed."""
        return [
            str(one.params.uri) for one in self.heard if isinstance(one, types.ResourceUpdatedNotification)
        ]


def text_of(result: types.CallToolResult) -> str:
    """The last text of a result, which is its record as JSON, or what went wrong."""
    return [one.text for one in result.content if isinstance(one, types.TextContent)][-1]


def json_of(result: types.CallToolResult) -> dict[str, Any]:
    """The record of a result as clients read it that know only texts."""
    record: dict[str, Any] = json.loads(text_of(result))
    return record


@contextmanager
def connected(server: str | StdioServerParameters | Any, *, mode: str = "auto") -> Iterator[AgentClient]:
    """A client of *server*: a URL, or a command to start; mode `legacy` is the protocol before 2026-07-28."""
    heard: list[types.ServerNotification] = []

    async def hear(message: IncomingMessage) -> None:
        if isinstance(message, types.ServerNotification):
            heard.append(message)

    with start_blocking_portal() as portal:
        client = Client(server, mode=mode, read_timeout_seconds=SECONDS, message_handler=hear)
        with portal.wrap_async_context_manager(client) as opened:
            yield AgentClient(portal, opened, heard)


def over_stdio(index: Path, **environment: str) -> StdioServerParameters:
    """How a client starts `sitegraph mcp`."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "sitegraph", "mcp", "--index", str(index)],
        cwd=str(REPO),
        env=environment,
    )


def schema_of(tools: Mapping[str, types.Tool], name: str) -> dict[str, Any]:
    """The schema that the server states for what a tool gives."""
    schema = tools[name].output_schema
    assert schema is not None
    return schema
