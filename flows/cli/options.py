"""Options that several commands share."""

import json
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

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


def print_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
