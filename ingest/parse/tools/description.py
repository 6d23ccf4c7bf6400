"""One tool as any format describes it, and the checked JSON or YAML that states it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import yaml

from schemas.errors import ParseError
from schemas.ids import canonical_json
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


MAX_YAML_BYTES = 4 * 1024 * 1024
"""YAML takes a second for some hundred kilobytes; JSON of the same content is read in no time."""

MAX_DEPTH = 100
MAX_EVENTS = 1_000_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_json(text: str) -> Any:
    """Read JSON.

    Raises: ParseError: it is none, or nested too deep.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ParseError("JSON is nested too deep") from None
    except ValueError as error:
        place = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise ParseError(f"not valid JSON ({place})") from None


class WrittenLoader(_LOADER):  # type: ignore[misc]
    """Takes values as written, but for true, false and null: YAML 1.1 has NO for false and 12:30 for 750."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


WrittenLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|false)\Z"), ["t", "f"])
WrittenLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:null|~)?\Z"), ["n", "~", ""])


def load_yaml(text: str, *, loader: Any = _LOADER) -> Any:
    """Read YAML without anchors and aliases, which can blow a few lines up to gigabytes.

    Raises: ParseError: it is none, too long, nested too deep, or has one of those.
    """
    if len(text) > MAX_YAML_BYTES:
        raise ParseError(f"YAML of more than {MAX_YAML_BYTES} characters; write it as JSON")
    try:
        _check_events(text)
        return yaml.load(text, Loader=loader)  # noqa: S506 - of the C twin of SafeLoader
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ParseError(f"not valid YAML ({line}{error.problem})") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ParseError(f"not valid YAML ({' '.join(str(error).split())[:200]})") from None


def _check_events(text: str) -> None:
    """Look before anything is built: the C loader recurses on the machine's own stack."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise ParseError("anchors and aliases are not allowed in YAML; write out what they stand for")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or number > MAX_EVENTS:
            raise ParseError("YAML is nested too deep or has too many values")


def as_mapping(value: Any, where: str) -> Mapping[str, Any]:
    """Return a mapping with texts for keys, or none; ParseError names *where* it should stand."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ParseError(f"{where}: should be a mapping")
    return value


def as_list(value: Any, where: str) -> list[Any]:
    """Return a list, or none."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise ParseError(f"{where}: should be a list")
    return value


def as_text(value: Any, where: str) -> str:
    """Return a text, or an empty one for none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ParseError(f"{where}: should be a text; put it in quotes")
    return value


def as_texts(value: Any, where: str) -> tuple[str, ...]:
    """Return a list of texts, or none."""
    return tuple(as_text(item, f"{where}.{number}") for number, item in enumerate(as_list(value, where)))
