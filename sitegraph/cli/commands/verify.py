"""`sitegraph verify`: do the stores contain what the generation says, and what the bytes give?"""

import shlex
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from runtime.settings import read_settings
from schemas.errors import ConfigError
from sitegraph.cli.options import (
    FormatOption,
    IndexOption,
    QuietOption,
    damage_records,
    generation_option,
    print_result,
)

if TYPE_CHECKING:
    from sitegraph.actions.verify import Verified

_SHOWN = 50
"""Faults that a person is shown; --format json has all."""


def verify(
    index: IndexOption = None,
    generation: Annotated[
        int | None,
        generation_option("Generation to check (default: the current one).", "--generation", least=0),
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
    output: FormatOption = "text",
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
    from sitegraph.actions.verify import Checking
    from sitegraph.actions.verify import verify as verify_index

    checking = Checking(deep=deep, sample=rebuild_sample, seed=seed, rebuild=rebuild)
    found = verify_index(read_settings(index), checking, generation=generation, quiet=quiet)
    if checking.derives and found.proof is None and found.generation > 0:
        print("nothing was derived again: repair the tables first", file=sys.stderr)
    _tell(found, output)
    if found.faults:
        raise typer.Exit(1)


def _tell(found: "Verified", output: str) -> None:
    """Print what is wrong on stderr, with what to do, and the verdict."""
    from sitegraph.actions.verify import proof_lines, proof_record

    proof, faults = found.proof, found.faults
    if output == "text":
        for line in _faults(found):
            print(line, file=sys.stderr)
    record = {"generation": found.generation, "damage": damage_records(found.damage)}
    verdict = f"{faults} fault{'s' * (faults > 1)}" if faults else "intact"
    lines = [*(proof_lines(proof) if proof else ()), f"generation {found.generation}: {verdict}"]
    print_result(output, {**record, **({"proof": proof_record(proof)} if proof else {})}, lines)


def _faults(found: "Verified") -> Iterator[str]:
    yield from islice(_each_fault(found), _SHOWN if found.proof else found.faults)
    if found.proof and found.faults > _SHOWN:
        yield f"… and {found.faults - _SHOWN} more (--format json)"
    if found.damage:
        yield found.remedy
    elif found.faults:
        yield f"repair it with: sitegraph repair --rows --index {shlex.quote(str(found.root))}"


def _each_fault(found: "Verified") -> Iterator[str]:
    yield from (f"{subject}: {what}" for subject, what in found.damage)
    yield from (
        f"{one.table} {one.id}: {one.what}" for one in (found.proof.differences if found.proof else ())
    )
