"""`sitegraph verify`: do the stores contain what the generation says they contain?"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from indexes.copies.marker import read_marker
from runtime.settings import read_settings
from schemas.settings import Settings
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
    settings = read_settings(index)
    if read_marker(Path(settings.index)) is not None:
        _verify_copy(settings, output)
        return
    from flows.run.find_damage import find_damage
    from flows.run.opening import open_existing
    from indexes.layout import remedy
    from runtime.progress import StageProgress

    opened = open_existing(settings)
    try:
        number = choose_generation(opened, generation)
        with StageProgress(quiet=quiet) as progress:
            damage = find_damage(opened, number, progress=progress)
    finally:
        opened.close()
    _tell(number, damage, remedy(opened.layout.root), output)


def _verify_copy(settings: Settings, output: OutputFormat) -> None:
    """Compare the files of a copy; its rows were compared where they were published."""
    from indexes.copies.checking import damage_in_copy
    from indexes.layout import IndexLayout, remedy
    from indexes.publish.current import read_current
    from indexes.publish.signatures import open_trust

    layout = IndexLayout(Path(settings.index))
    damage = damage_in_copy(layout, trust=open_trust(settings.trust))
    _tell(read_current(layout.root), damage, remedy(layout.root), output)


def _tell(number: int, damage: Sequence[tuple[str, str]], remedy: str, output: OutputFormat) -> None:
    if output is OutputFormat.JSON:
        print_json({"generation": number, "damage": [{"subject": s, "what": w} for s, w in damage]})
    else:
        for subject, what in damage:
            print(f"{subject}: {what}", file=sys.stderr)
        if damage:
            print(remedy, file=sys.stderr)
        print(f"generation {number}: " + _verdict(len(damage)))
    if damage:
        raise typer.Exit(1)


def _verdict(faults: int) -> str:
    return "intact" if not faults else f"{faults} fault{'s' if faults > 1 else ''}"
