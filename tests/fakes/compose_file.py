"""Reads compose files as `docker compose` does: variables filled in, several files put together.

Source: the Compose specification, "Interpolation" and "Merge".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_VARIABLE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-?+])((?:[^{}]|\$\{[^{}]*\})*))?\})")
_REPLACED = frozenset({"command", "entrypoint", "test"})
"""Sequences that a later file replaces; others it adds to."""


class MissingVariable(Exception):
    """A variable that the file insists on is not set; the text is what the file says of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One entry of `volumes`: a named volume, or a path of the machine."""

    source: str
    target: str
    read_only: bool
    named: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One service with everything filled in."""

    name: str
    image: str
    built: bool
    command: tuple[str, ...] | None
    entrypoint: tuple[str, ...] | None
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    files: Mapping[str, str]
    needs: Mapping[str, str]
    test: tuple[str, ...] | None
    restart: str
    profiles: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compose:
    """What some compose files say together; `folder` is what their relative paths start from."""

    folder: Path
    services: Mapping[str, Service]
    volumes: frozenset[str]


def read_compose(*files: Path, environ: Mapping[str, str]) -> Compose:
    """Read compose files. Raises: MissingVariable."""
    merged: Any = {}
    for file in files:
        merged = merge(merged, fill_in(yaml.safe_load(file.read_text(encoding="utf-8")), environ))
    contents = {name: config["content"] for name, config in merged.get("configs", {}).items()}
    services = {name: _service(name, body, contents) for name, body in merged["services"].items()}
    given = {entry["path"] for body in merged["services"].values() for entry in body.get("env_file", ())}
    assert not [path for path in given if (files[0].parent / path).exists()], "somebody's own settings"
    return Compose(folder=files[0].parent, services=services, volumes=frozenset(merged["volumes"]))


def fill_in(value: Any, environ: Mapping[str, str]) -> Any:
    """Replace variables in every text of a tree, once: what they hold is not looked at again."""
    if isinstance(value, dict):
        return {key: fill_in(inner, environ) for key, inner in value.items()}
    if isinstance(value, list):
        return [fill_in(inner, environ) for inner in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _value(match, environ), value)
    return value


def _value(match: re.Match[str], environ: Mapping[str, str]) -> str:
    dollar, plain, braced, operator, text = match.groups()
    if dollar:
        return "$"
    name, operator, text = plain or braced, operator or "", text or ""
    given = environ.get(name)
    is_set = bool(given) if operator.startswith(":") else given is not None
    if operator.endswith("+"):
        return str(fill_in(text, environ)) if is_set else ""
    if is_set:
        return given or ""
    if operator.endswith("?"):
        raise MissingVariable(f"{name}: {text}")
    return str(fill_in(text, environ)) if operator.endswith("-") else ""


def merge(first: Any, second: Any, key: str = "") -> Any:
    """Put what a later file says over what an earlier one does."""
    if isinstance(first, dict) and isinstance(second, dict):
        both = {name: merge(first[name], second[name], name) for name in first.keys() & second.keys()}
        return {**first, **second, **both}
    if isinstance(first, list) and isinstance(second, list) and key not in _REPLACED:
        return [*first, *second]
    return second


def _service(name: str, body: Mapping[str, Any], contents: Mapping[str, str]) -> Service:
    return Service(
        name=name,
        image=body["image"],
        built="build" in body,
        command=_words(body.get("command")),
        entrypoint=_words(body.get("entrypoint")),
        environment={key: str(value) for key, value in body.get("environment", {}).items()},
        mounts=tuple(_mount(text) for text in body.get("volumes", ())),
        files={entry["target"]: contents[entry["source"]] for entry in body.get("configs", ())},
        needs={other: how["condition"] for other, how in body.get("depends_on", {}).items()},
        test=_words(body.get("healthcheck", {}).get("test")),
        restart=body.get("restart", "no"),
        profiles=tuple(body.get("profiles", ())),
    )


def _words(value: Any) -> tuple[str, ...] | None:
    assert value is None or isinstance(value, list), f"{value!r} is not in exec form"
    return None if value is None else tuple(map(str, value))


def _mount(text: str) -> Mount:
    source, target, *mode = text.split(":")
    named = not source.startswith((".", "/", "~"))
    return Mount(source=source, target=target, read_only=mode == ["ro"], named=named)
