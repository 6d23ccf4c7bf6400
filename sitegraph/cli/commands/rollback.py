"""`sitegraph rollback`: readers go back to an earlier generation at once."""

import sys
from typing import Annotated

import typer

from runtime.settings import read_settings
from schemas.advice import ADVICE, Trouble
from schemas.errors import ConfigError
from sitegraph.cli.completing import complete_generation
from sitegraph.cli.hints import complete_commands
from sitegraph.cli.options import FormatOption, IndexOption, OutputFormat, print_json


def rollback(
    index: IndexOption = None,
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            help="Generation to return to (default: the previous one).",
            autocompletion=complete_generation,
        ),
    ] = None,
    lift: Annotated[bool, typer.Option("--lift", help="Lift the hold, so that runs publish again.")] = False,
    output: FormatOption = OutputFormat.TEXT,
) -> None:
    """Return readers to an earlier generation, and hold publishing until --lift.

    The next run after --lift compares with the current generation, so what was rolled back returns if the
    site still says so.

    Examples:

      sitegraph rollback --index ./index

      sitegraph rollback --to 7

      sitegraph rollback --lift
    """
    from flows.rollback import lift_hold_of, roll_back
    from flows.run.opening import open_existing

    if lift and to is not None:
        raise ConfigError(
            "cannot be combined with --to: lifting the hold changes no generation", subject="--lift"
        )
    opened = open_existing(read_settings(index))
    try:
        record = lift_hold_of(opened) if lift else roll_back(opened, to=to)
    finally:
        opened.close()
    if output is OutputFormat.JSON:
        print_json(record)
    elif lift:
        print("publishing is allowed again" if record["lifted"] else "there was no hold")
    else:
        print(f"readers see generation {record['generation']} again; publishing is held")
        print(complete_commands(ADVICE[Trouble.HELD], index=index))
        for warning in record["warnings"]:
            print(warning, file=sys.stderr)
