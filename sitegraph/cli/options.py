"""Options that several commands share, what shells complete, and hints that name this call's options."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from indexes.embed.named_models import known_names
from indexes.layout import IndexLayout
from runtime.settings import read_settings
from schemas.advice import Door, DoorKind, advise
from schemas.errors import ConfigError
from schemas.redaction import to_json
from schemas.settings import Settings, StoreSettings
from sitegraph.cli.reading import warn

if TYPE_CHECKING:
    pass

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

FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", metavar="KEY=VALUE", help="Only matching chunks, such as doc_type=guide. Repeatable."
    ),
]

GraphOption = Annotated[bool, typer.Option("--use-graph/--no-graph", help="Follow the edges of the graph.")]

ChunkArgument = Annotated[
    str, typer.Argument(help="A chunk id as `query` prints it, or the beginning of one.")
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

AllowOption = Annotated[
    str | None,
    typer.Option(
        "--allow",
        metavar="USE",
        help="Only documents whose sites do not refuse this use: ai-input, search or ai-train, or several.",
    ),
]


FormatOption = Annotated[
    Literal["text", "json"], typer.Option("--format", help="Text for people, or JSON for programs.")
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


def check_folder(settings: StoreSettings) -> None:
    """Say at once that the index cannot be made or opened where it is asked for.

    Raises: ConfigError: a file stands there, or a folder of other things.
    """
    from indexes.places import place_of

    folder = place_of(settings)
    if isinstance(folder, Path) and folder.exists() and not folder.is_dir():
        raise ConfigError("is a file; choose a folder for --index", subject=str(folder))
    if IndexLayout(folder).is_foreign():
        raise ConfigError("is not empty and not an index; choose another --index", subject=str(folder))


def refuse_unknown_model(settings: Settings) -> None:
    """Say at once that the model which the settings name is not there, or is not the expected one.

    Raises: ConfigError: with the names that are known.
    """
    if settings.model:
        from indexes.embed.weights import load_model_spec

        load_model_spec(settings.model, settings).in_dtype(settings.dtype)


def print_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    sys.stdout.write(to_json(value, indent=2) + "\n")


def damage_records(damage: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return damage as JSON objects."""
    return [{"subject": subject, "what": what} for subject, what in damage]


def print_result(output: str, record: Any, lines: Iterable[str]) -> None:
    """Print a result as one JSON object, or as lines for people, which nothing else makes."""
    if output == "json":
        print_json(record)
        return
    for line in lines:
        print(line)


def warn_of_unknown_source(name: str | None, known: Iterable[str], *, where: str) -> None:
    """Say that a source has nothing because there is none of that name: a typing error looks just so."""
    names = sorted({*known} - {""})
    if name is not None and name not in names:
        warn(f"{name}: no such source{where} has: {', '.join(names) or 'none'}")


def complete_source(context: typer.Context, incomplete: str) -> list[str]:
    """Return names of the sources that readers see; what is wrong is said once the command is run."""
    from indexes.publish.current import read_current
    from indexes.publish.generation import load_generation

    with suppress(Exception):
        layout = _layout(context)
        sources = load_generation(layout, read_current(layout.root)).sources
        return [name for name in sorted(sources) if name.startswith(incomplete)]
    return []


def complete_generation(context: typer.Context, incomplete: str) -> list[str]:
    """Return the kept generations, the newest first."""
    with suppress(Exception):
        from indexes.publish.generation import generation_numbers

        kept = reversed(generation_numbers(_layout(context)))
        return [str(number) for number in kept if str(number).startswith(incomplete)]
    return []


def _layout(context: typer.Context) -> IndexLayout:
    return IndexLayout(Path(read_settings(context.params.get("index")).index))


def source_option(help_: str) -> Any:
    """Return the option `--source`, which shells complete."""
    return typer.Option("--source", help=help_, autocompletion=complete_source)


def generation_option(help_: str, *names: str, least: int | None = None) -> Any:
    """Return an option that takes a kept generation, which shells complete."""
    return typer.Option(*names, help=help_, min=least, autocompletion=complete_generation)


_SWITCHES = frozenset({"--due", "--accept", "--repair", "--quiet"})
"""Options of `run` that take no value."""


def door_of(arguments: Sequence[str]) -> Door:
    """What a call of the command line with these arguments has named."""
    index, source = _option(arguments, "--index"), _source(arguments)
    return Door(kind=DoorKind.COMMAND_LINE, index=index, source=source)


def complete_commands(message: str, *, index: str | None, source: str | None = None) -> str:
    """Return the message with the index and the source file of this call in every command that it advises.

    Args: index: as the call named it, None where it did not: what the environment says needs no repeating.
    """
    return advise(message, Door(kind=DoorKind.COMMAND_LINE, index=index, source=source))


def _option(arguments: Sequence[str], name: str) -> str | None:
    for place, argument in enumerate(arguments):
        if argument.startswith(f"{name}="):
            return argument.removeprefix(f"{name}=")
        if argument == name and place + 1 < len(arguments):
            return arguments[place + 1]
    return None


def _source(arguments: Sequence[str]) -> str | None:
    """The source file that was named; of a run whatever it is of, such as an address or a folder."""
    file = next((one for one in arguments[1:] if one.endswith((".yaml", ".yml"))), None)
    if file is not None or arguments[:1] != ["run"]:
        return file
    return next((one for before, one in pairwise(arguments) if _is_argument(one, after=before)), None)


def _is_argument(word: str, *, after: str) -> bool:
    is_value = after.startswith("-") and after not in _SWITCHES and "=" not in after
    return not word.startswith("-") and not is_value
