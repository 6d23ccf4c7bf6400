"""`sitegraph verify`: do the stores contain what the generation says they contain?"""

import sys
from typing import Annotated

import typer

from runtime.settings import read_settings
from sitegraph.cli.completing import complete_generation
from sitegraph.cli.options import (
    FormatOption,
    IndexOption,
    OutputFormat,
    QuietOption,
    choose_generation,
    print_json,
)


def verify(
    index: IndexOption = None,
    generation: Annotated[
        int | None,
        typer.Option(
            help="Generation to check (default: the current one).", min=0, autocompletion=complete_generation
        ),
    ] = None,
    quiet: QuietOption = False,
    output: FormatOption = OutputFormat.TEXT,
) -> None:
    """Read the whole index and compare it with its manifest. Damage is exit code 1.

    Examples:

      sitegraph verify --index ./index

      sitegraph verify --generation 3 --format json
    """
    from flows.run.find_damage import find_damage
    from flows.run.opening import open_existing
    from indexes.layout import remedy
    from runtime.progress import StageProgress

    opened = open_existing(read_settings(index))
    try:
        number = choose_generation(opened, generation)
        with StageProgress(quiet=quiet) as progress:
            damage = find_damage(opened, number, progress=progress)
    finally:
        opened.close()
    if output is OutputFormat.JSON:
        print_json({"generation": number, "damage": [{"subject": s, "what": w} for s, w in damage]})
    else:
        for subject, what in damage:
            print(f"{subject}: {what}", file=sys.stderr)
        if damage:
            print(remedy(opened.layout.root), file=sys.stderr)
        print(f"generation {number}: " + _verdict(len(damage)))
    if damage:
        raise typer.Exit(1)


def _verdict(faults: int) -> str:
    return "intact" if not faults else f"{faults} fault{'s' if faults > 1 else ''}"
