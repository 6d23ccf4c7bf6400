"""The pages on MCP, held against the code: tools, arguments, results, limits, and what is to be pasted."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from sitegraph.cli.app import build_commands
from sitegraph.service.answers import PAIRS_MAX
from sitegraph.service.guard import RequestLimits
from sitegraph.service.items import TEXT_MAX
from sitegraph.service.mcp_ import schemas, subscriptions
from sitegraph.service.mcp_.framing import fence
from sitegraph.service.mcp_.http import _HEADROOM_SECONDS
from sitegraph.service.mcp_.resources import ARGUMENT, CHUNK_TEMPLATE, NAME, PAGE_TEMPLATE
from sitegraph.service.mcp_.server import GENERATION
from sitegraph.service.mcp_.tools import TOOLS, ToolSpec
from tests.fakes.mcp_clients import REPO, connected, over_stdio

DOCS = REPO / "docs"
PAGE = (DOCS / "reference" / "mcp.md").read_text("utf-8")
HOW_TO = (DOCS / "how-to" / "give-an-agent-your-documentation.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = {"retrieve", "neighbourhood", "changes"}
"""Tools whose results have a page of their own."""


def rows() -> dict[str, list[str]]:
    """The table of tools by their names: the cells of each."""
    table = PAGE.partition("## Tools")[2].partition("\n## ")[0]
    cells = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): row for row in cells}


def words(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell))


def properties(schema: Any) -> set[str]:
    """Names of the fields of a result, and of the objects that it lists first."""
    inner = schema.get("properties", {})
    return set(inner).union(*(set(one.get("items", {}).get("properties", {})) for one in inner.values()))


def test_the_table_has_every_tool() -> None:
    assert list(rows()) == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_table_has_every_argument_and_every_field_of_the_result(tool: ToolSpec) -> None:
    _, taken, given = rows()[tool.name]
    assert words(taken) == set(tool.arguments.model_fields)
    if tool.name not in ELSEWHERE:
        inside = {"S", "chunk_id"} if tool.name == "verify_answer" else set()
        assert properties(tool.output()) - inside - {"citation"} <= words(given)


def test_the_page_has_the_uris_the_prompt_and_the_key_of_the_generation() -> None:
    said = set(re.findall(r"`([^`\n]+)`", BLOCK.sub("", PAGE)))
    assert {CHUNK_TEMPLATE, PAGE_TEMPLATE, NAME, ARGUMENT, GENERATION} <= said


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    limits = RequestLimits()
    for told in (
        f"at most {TEXT_MAX:,} characters",
        f"at most {schemas.HOPS_MAX} hops and {schemas.NODES_MAX} nodes",
        f"at most {schemas.ENTRIES_MAX:,} entries",
        f"{limits.seconds:g} seconds, {limits.seconds - _HEADROOM_SECONDS:g} over HTTP",
        f"{limits.working} are handled at a time and {limits.waiting} queued",
        f"{schemas.ANSWER_MAX:,} characters and {schemas.EVIDENCE_MAX} chunks, and at most {PAIRS_MAX}",
        f"can follow {subscriptions.URIS_MAX:,} resources, and a worker has {subscriptions.STREAMS_MAX} "
        f"streams and {subscriptions.CHUNKS_MAX:,} chunks",
        f"body of {limits.body_bytes // 1024} KiB",
    ):
        assert told in " ".join(PAGE.split()), told


def test_the_entry_for_programs_starts_the_server(folder: Path) -> None:
    (entry,) = [json.loads(body) for language, body in BLOCK.findall(HOW_TO) if language == "json"]
    (server,) = entry["mcpServers"].values()
    assert server["command"].endswith("/sitegraph")
    verb, *options = server["args"]
    command = get_command(build_commands()).commands[verb]  # type: ignore[attr-defined]
    known = {name for parameter in command.params for name in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= known


def test_the_program_of_the_how_to_runs(folder: Path, tmp_path: Path) -> None:
    (program,) = [body for language, body in BLOCK.findall(HOW_TO) if language == "python"]
    (tmp_path / "handbook-index").symlink_to(folder)
    search = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PATH": search},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "»Records are kept for seven years." in done.stdout


def test_the_example_of_a_fence_is_what_the_server_gives(folder: Path) -> None:
    decision = (DOCS / "decisions" / "0025-fenced-text.md").read_text("utf-8")
    (example,) = [body for language, body in BLOCK.findall(decision) if language == "text"]
    _, _, *told = example.splitlines()
    assert told[0] == "»Records are kept for seven years.«"
    assert example.splitlines()[1:] == fence(told[0]).splitlines()[1:]


def test_what_the_client_is_told_at_the_beginning_names_tools_that_there_are(folder: Path) -> None:
    with connected(over_stdio(folder)) as agent:
        instructions = agent.client.instructions or ""
    assert {"search", "fetch", "retrieve", "verify_answer"} <= set(re.findall(r"\w+", instructions))
