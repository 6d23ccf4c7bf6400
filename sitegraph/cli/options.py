"""Options that several commands share."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indexes.embed.named_models import known_names
from schemas.errors import ConfigError
from schemas.json_text import to_json
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.run.index import Index

IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help="Index folder, or s3://BUCKET/PREFIX (default: SITEGRAPH_INDEX, else ./.sitegraph).",
    ),
]


ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help=f"Encoder: {known_names(default=' (default)')}, a folder, or a name in the local Hugging Face "
        "cache. Default: the index's own. Another one for an existing index needs --accept.",
    ),
]


AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DATE|GENERATION",
        help="Read the index as it was: a kept generation, or the newest of a month, a day or a time.",
    ),
]


VersionOption = Annotated[
    str | None,
    typer.Option(
        "--version",
        metavar="VERSION",
        help="Of manuals with several versions: that one, such as 15 or postgresql=15; latest (the default); "
        "or all.",
    ),
]


GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="A,B",
        help="Read what readers of these groups see (default: SITEGRAPH_GROUPS, else the whole index).",
    ),
]


class OutputFormat(StrEnum):
    """How a command prints its result."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    OutputFormat, typer.Option("--format", help="Text for people, or JSON for programs.")
]


QuietOption = Annotated[
    bool, typer.Option("--quiet", help="No progress on stderr; warnings and errors remain.")
]

AllowPrivateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-private",
        metavar="HOST:PORT",
        help="Allow fetching from this private address. Repeatable.",
    ),
]


def check_folder(settings: Settings) -> None:
    """Say at once that the index cannot be made or opened where it is asked for.

    Raises: ConfigError: a file stands there, or a folder of other things.
    """
    from indexes.layout import IndexLayout
    from indexes.places import place_of

    folder = place_of(settings)
    if isinstance(folder, Path) and folder.exists() and not folder.is_dir():
        raise ConfigError("is a file; choose a folder for --index", subject=str(folder))
    if IndexLayout(folder).is_foreign():
        raise ConfigError("is not empty and not an index; choose another --index", subject=str(folder))


def check_encoder(settings: Settings) -> None:
    """Say at once that the model which the settings name is not there, or is not the expected one.

    Raises: ConfigError: with the names that are known.
    """
    if settings.model:
        from indexes.embed.weights import load_model_spec

        load_model_spec(settings.model).in_dtype(settings.dtype)


def choose_generation(index: "Index", wanted: int | None) -> int:
    """Return the generation to read: the current one unless another is asked for.

    Raises: ConfigError: that one is not kept (any more).
    """
    if wanted is None:
        return index.current()
    kept = sorted(int(path.stem) for path in index.layout.generation(0).parent.glob("*.json"))
    if wanted not in (0, *kept):
        have = ", ".join(map(str, kept)) or "none"
        raise ConfigError(f"generation {wanted} is not kept; kept: {have}", subject="--generation")
    return wanted


def print_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    sys.stdout.write(to_json(value, indent=2) + "\n")
