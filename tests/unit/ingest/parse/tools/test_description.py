"""Tools as they are kept, whatever their format."""

import pytest

from ingest.parse.tools.description import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_NAMES,
    MAX_SCHEMA,
    ToolDescription,
    schema_text,
    tidy,
)
from schemas.errors import ParseError


def test_names_are_on_one_line_sorted_and_once() -> None:
    tool = tidy(
        ToolDescription(name=" shop\n open ", tool_type="command", aliases=("b", "a", "b", "shop open", ""))
    )
    assert (tool.name, tool.aliases) == ("shop open", ("a", "b"))


def test_a_secret_in_a_description_or_schema_is_hidden() -> None:
    token = "ghp_" + "Zk3uT9wQm5Rb7Vx2Lc8Ny4Pd6Sf1Hg0JaEeK"
    tool = tidy(
        ToolDescription(
            name="shop",
            tool_type="tool",
            description=f"Use {token} here.",
            input_schema=f'{{"default":"{token}"}}',
        )
    )
    assert token not in f"{tool.description} {tool.input_schema}"


def test_a_long_description_is_cut() -> None:
    tool = tidy(ToolDescription(name="shop", tool_type="tool", description="a " * MAX_DESCRIPTION))
    assert len(tool.description) <= MAX_DESCRIPTION


@pytest.mark.parametrize(
    "tool",
    [
        ToolDescription(name=" ", tool_type="tool"),
        ToolDescription(name="x" * (MAX_NAME + 1), tool_type="tool"),
        ToolDescription(name="x", tool_type="tool", options=tuple(f"--{n}" for n in range(MAX_NAMES + 1))),
        ToolDescription(name="x", tool_type="tool", input_schema="x" * (MAX_SCHEMA + 1)),
    ],
)
def test_what_is_beyond_a_limit_is_refused(tool: ToolDescription) -> None:
    with pytest.raises(ParseError):
        tidy(tool)


def test_a_schema_that_json_cannot_say_is_refused() -> None:
    with pytest.raises(ParseError, match="not JSON"):
        schema_text({"default": float("nan")})
