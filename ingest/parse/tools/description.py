"""What a file says of one tool, whatever its format."""

from dataclasses import dataclass, replace
from typing import Any

from schemas.errors import ParseError
from schemas.hashing import canonical_json
from schemas.redaction import redact

MAX_TOOLS = 50_000
"""Tools of one file; the inventory of a large library has some twenty thousand."""

MAX_NAME = 300
"""Characters of a name, an alias, an option or an endpoint."""

MAX_NAMES = 500
"""Aliases, options and endpoints, each, of one tool."""

MAX_DESCRIPTION = 4_000
"""Characters kept of a description; what it says first is what it is for."""

MAX_SCHEMA = 65_536
"""Characters of an input schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDescription:
    """One tool; the fields are those of `schemas.nodes.Tool`."""

    name: str
    tool_type: str
    aliases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    description: str = ""
    input_schema: str | None = None


def tidy(tool: ToolDescription) -> ToolDescription:
    """Return the tool with its texts on one line each, its lists sorted and without repeats, and no secrets.

    Raises: ParseError: it has no name, or something of it is beyond the limits above.
    """
    name = one_text(tool.name)
    if not name:
        raise ParseError("a tool has no name")
    aliases = set(_names(tool.aliases, of=name)) - {name}
    if tool.input_schema is not None and len(tool.input_schema) > MAX_SCHEMA:
        raise ParseError(f"the input schema of {name[:80]!r} has more than {MAX_SCHEMA} characters")
    return replace(
        tool,
        name=_names((name,), of=name)[0],
        aliases=tuple(sorted(aliases)),
        options=_names(tool.options, of=name),
        endpoints=_names(tool.endpoints, of=name),
        description=redact(one_text(tool.description[: 2 * MAX_DESCRIPTION])[:MAX_DESCRIPTION]),
        input_schema=redact(tool.input_schema) if tool.input_schema else None,
    )


def schema_text(schema: Any) -> str | None:
    """Return a JSON Schema as canonical JSON; None for none.

    Raises: ParseError: it contains what JSON has not.
    """
    try:
        return None if schema is None else canonical_json(schema)
    except (TypeError, ValueError, RecursionError) as error:  # a date of YAML, a number that is none
        raise ParseError(f"an input schema is not JSON ({error})") from None


def one_text(text: str) -> str:
    """Put a text on one line."""
    return " ".join(text.split())


def _names(names: tuple[str, ...], *, of: str) -> tuple[str, ...]:
    found = sorted({text for name in names if (text := one_text(name))})
    if len(found) > MAX_NAMES or any(len(name) > MAX_NAME for name in found):
        raise ParseError(
            f"{of[:80]!r} has more than {MAX_NAMES} names of a kind, or one of over {MAX_NAME} characters"
        )
    return tuple(found)
