"""`sitegraph verify`: do the stores contain what the generation says, and what the bytes give?"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indexes.copies.marker import read_marker
from runtime.settings import read_settings
from schemas.errors import ConfigError
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

if TYPE_CHECKING:
    from flows.proof.prove import Proof
    from flows.run.index import Index
    from runtime.progress import StageProgress

_SHOWN = 50
"""Faults that a person is shown; --format json has all."""


def verify(
    index: IndexOption = None,
    generation: Annotated[
        int | None,
        typer.Option(
            help="Generation to check (default: the current one).", min=0, autocompletion=complete_generation
        ),
    ] = None,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Also search for each chunk by its own words and its own vector."),
    ] = False,
    rebuild_sample: Annotated[
        int | None,
        typer.Option(
            "--rebuild-sample",
            metavar="N",
            min=1,
            help="Also derive N documents again from their bytes, and compare rows, edges and vectors.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Another seed chooses another sample.", show_default=True)
    ] = 0,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Also derive all documents again into a scratch index, and compare the export."
        ),
    ] = False,
    quiet: QuietOption = False,
    output: FormatOption = OutputFormat.TEXT,
) -> None:
    """Read the whole index and compare it with its manifest. Damage is exit code 1.

    --rebuild-sample and --rebuild also prove it: documents are parsed, linked and encoded again, without a
    request. The index is only read. The same command continues an interrupted --rebuild.

    Examples:

      sitegraph verify --index ./index

      sitegraph verify --generation 3 --format json

      sitegraph verify --deep

      sitegraph verify --rebuild-sample 200 --seed 7

      sitegraph verify --rebuild
    """
    if rebuild and rebuild_sample is not None:
        raise ConfigError(
            "cannot be combined with --rebuild, which derives all documents", subject="--rebuild-sample"
        )
    settings = read_settings(index)
    if read_marker(Path(settings.index)) is not None:
        if deep or rebuild or rebuild_sample is not None:
            raise ConfigError(
                "is a copy, which holds no bytes to derive it from; prove the index that it was copied from",
                subject=settings.index,
            )
        _verify_copy(settings, output)
        return
    from flows.run.find_damage import find_damage
    from flows.run.opening import open_existing
    from indexes.layout import remedy
    from runtime.progress import StageProgress

    opened = open_existing(settings)
    proof: Proof | None = None
    try:
        number = choose_generation(opened, generation)
        with StageProgress(quiet=quiet) as progress:
            damage = list(find_damage(opened, number, progress=progress))
            readable = number > 0 and not any(path.startswith("lance/") for path, _ in damage)
            if deep and readable:
                damage += _search(opened, number, progress)
            if (rebuild or rebuild_sample is not None) and readable:
                proof = _prove(opened, number, rebuild_sample, seed, progress)
    finally:
        opened.close()
    how_to_repair = f"{remedy(opened.layout.root)}\n{_fetched_again(opened.layout.root)}"
    if proof is None:
        if (rebuild or rebuild_sample is not None) and number > 0:
            print("nothing was derived again: repair the tables first", file=sys.stderr)
        _tell(number, damage, how_to_repair, output)
    else:
        _tell_proof(number, damage, proof, opened.layout.root, output)


def _search(opened: "Index", number: int, progress: "StageProgress") -> list[tuple[str, str]]:
    from flows.proof.searched import search_damage

    return list(search_damage(opened, number, progress))


def _prove(opened: "Index", number: int, sample: int | None, seed: int, progress: "StageProgress") -> "Proof":
    from functools import partial

    from flows.proof.prove import prove_all, prove_sample
    from sitegraph.cli.exports.records import rows

    if sample is not None:
        return prove_sample(opened, number, count=sample, seed=seed, progress=progress)
    stable = partial(rows, source=None, stable=True, vectors=False)
    return prove_all(
        opened,
        number,
        rows_of=lambda index, table, generation: stable(index, table, generation=generation),
        progress=progress,
    )


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


def _tell_proof(
    number: int, damage: Sequence[tuple[str, str]], proof: "Proof", index: Path, output: OutputFormat
) -> None:
    from indexes.layout import remedy
    from sitegraph.cli.proof_text import proof_lines, proof_record

    faults = len(damage) + len(proof.differences)
    if output is OutputFormat.JSON:
        told = [{"subject": subject, "what": what} for subject, what in damage]
        print_json({"generation": number, "damage": told, "proof": proof_record(proof)})
    else:
        found = [f"{subject}: {what}" for subject, what in damage]
        found += [f"{one.table} {one.id}: {one.what}" for one in proof.differences]
        for line in found[:_SHOWN]:
            print(line, file=sys.stderr)
        if faults > _SHOWN:
            print(f"… and {faults - _SHOWN} more (--format json)", file=sys.stderr)
        if damage:
            print(f"{remedy(index)}\n{_fetched_again(index)}", file=sys.stderr)
        elif faults:
            print(
                f"repair it with: sitegraph repair --rows --index {shlex.quote(str(index))}", file=sys.stderr
            )
        for line in proof_lines(proof):
            print(line)
        print(f"generation {number}: " + _verdict(faults))
    if faults:
        raise typer.Exit(1)


def _fetched_again(index: Path) -> str:
    """What brings back bytes that nothing else holds."""
    where = shlex.quote(str(index))
    return f"what it cannot repair is fetched again with: sitegraph run SOURCE.yaml --index {where} --repair"


def _verdict(faults: int) -> str:
    return "intact" if not faults else f"{faults} fault{'s' if faults > 1 else ''}"
