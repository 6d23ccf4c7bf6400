"""What is wrong with a source file, with its key and its line."""

import re
from difflib import get_close_matches
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

_MESSAGES = {
    "extra_forbidden": "unknown key",
    "missing": "is required",
    "tuple_type": "should be a list",
    "model_type": "should be a mapping",
    "dict_type": "should be a mapping",
    "string_pattern_mismatch": "has a character that is not allowed, or is too long; allowed: {pattern}",
    "string_type": "should be a text; put it in quotes",
}


_AT_MOST = 20
"""Errors shown of one file; who has more begins with these."""


def explain(error: ValidationError, tree: Any, file: type[BaseModel]) -> str:
    """Say all that is wrong, each with line and key, in the order of the file; *file* models the whole."""
    found = sorted({_explain_one(one, tree, file) for one in error.errors()})
    lines = [f"line {line}: {key}: {message}" for line, key, message in found[:_AT_MOST]]
    left = [f"and {len(found) - _AT_MOST} more"] if len(found) > _AT_MOST else []
    return "; ".join([*lines, *left])


def _explain_one(error: Any, tree: Any, file: type[BaseModel]) -> tuple[int, str, str]:
    location = _as_written(tree, tuple(part for part in error["loc"] if part != "[key]"))
    key = ".".join(str(part) for part in location) or "the file"
    message = _MESSAGES.get(error["type"], error["msg"].removeprefix("Value error, "))
    message = message.replace("{pattern}", str(error.get("ctx", {}).get("pattern", "")))
    if error["type"] == "extra_forbidden":
        message += _near(str(location[-1]), _known_keys(file, location[:-1]))
    if error["type"] == "literal_error":
        message += _near(str(error["input"]), _choices(error))
    return _line_of(tree, location), key, message


def _as_written(tree: Any, location: tuple[Any, ...]) -> tuple[Any, ...]:
    """Leave out of a place in `schedule` what its short forms do not have: list, key."""
    if not location or location[0] != "schedule" or not isinstance(tree, yaml.MappingNode):
        return location
    node = next((value for key, value in tree.value if key.value == "schedule"), None)
    place: tuple[Any, ...] = location[:1]
    for part in location[1:]:
        if isinstance(part, int) and isinstance(node, yaml.SequenceNode):
            node, place = node.value[part], (*place, part)
        elif isinstance(part, str) and isinstance(node, yaml.MappingNode):
            return (*place, part)
    return place


def _near(wrong: str, known: tuple[str, ...]) -> str:
    """Name what was most likely meant, else everything that is known."""
    close = get_close_matches(wrong.lower(), known, n=1, cutoff=0.7)
    return f"; did you mean {close[0]}?" if close else f"; known: {', '.join(known)}"


def _choices(error: Any) -> tuple[str, ...]:
    return tuple(re.findall(r"'([^']*)'", error["ctx"]["expected"]))


def _known_keys(file: type[BaseModel], location: tuple[Any, ...]) -> tuple[str, ...]:
    """The keys that a mapping of the file may have."""
    model: Any = file
    for part in location:
        # A number is the place in a list, all of whose items are of one kind.
        model = get_args(model)[0] if isinstance(part, int) else model.model_fields[part].annotation
    if get_args(model):  # of a list that may be written as its only entry
        model = get_args(model)[0]
    return tuple(model.model_fields)


def key_written_twice(node: yaml.Node | None) -> str | None:
    """Name the first such key of a checked file; YAML itself would take the last one in silence."""
    if isinstance(node, yaml.SequenceNode):
        return next((twice for item in node.value if (twice := key_written_twice(item))), None)
    seen: set[str] = set()
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value in seen:
            return f"line {key.start_mark.line + 1}: {key.value}: occurs twice"
        seen.add(key.value)
        if twice := key_written_twice(value):
            return twice
    return None


def _line_of(node: Any, location: tuple[Any, ...]) -> int:
    line = int(node.start_mark.line) + 1 if node is not None else 1
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if pair is None:
                return line
            line, node = int(pair[0].start_mark.line) + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = int(node.start_mark.line) + 1
    return line


def one_line(error: Exception) -> str:
    """Return the text of an error without its line breaks."""
    return " ".join(str(error).split())
