"""`sitegraph rollback`: readers go back to an earlier generation at once."""

import sys
from contextlib import closing
from typing import Annotated

import typer

from runtime.settings import read_settings
from schemas.advice import ADVICE, Trouble
from schemas.errors import ConfigError
from sitegraph.cli.options import (
    FormatOption,
    IndexOption,
    complete_commands,
    generation_option,
    print_result,
)


def rollback(
    index: IndexOption = None,
    to: Annotated[
        int | None, generation_option("Generation to return to (default: the previous one).", "--to")
    ] = None,
    lift: Annotated[bool, typer.Option("--lift", help="Lift the hold, so that runs publish again.")] = False,
    output: FormatOption = "text",
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
    with closing(open_existing(read_settings(index))) as opened:
        record = lift_hold_of(opened) if lift else roll_back(opened, to=to)
    if lift:
        lines = ["publishing is allowed again" if record["lifted"] else "there was no hold"]
    else:
        lines = [
            f"readers see generation {record['generation']} again; publishing is held",
            complete_commands(ADVICE[Trouble.HELD], index=index),
        ]
    print_result(output, record, lines)
    for warning in record["warnings"] if output == "text" and not lift else ():
        print(warning, file=sys.stderr)
