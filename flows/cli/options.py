"""Options that several commands share."""

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from schemas.settings import SETTINGS_FILE, Settings, load_settings

IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index", metavar="DIR", help="Index folder (default: SITEGRAPH_INDEX, else ./.sitegraph)."
    ),
]


class OutputFormat(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[OutputFormat, typer.Option("--format", help="text for people, json for programs.")]


def read_settings(index: str | None) -> Settings:
    """Settings from the environment and `./sitegraph.toml`; the option wins over both."""
    from dataclasses import replace

    file = Path(SETTINGS_FILE)
    settings = load_settings(os.environ, file.read_text() if file.is_file() else None)
    return replace(settings, index=index or settings.index)


def print_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
