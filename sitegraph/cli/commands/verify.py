"""`sitegraph verify`: do the stores contain what the generation says, and what the bytes give?"""

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indexes.markers import read_marker
from runtime.settings import read_settings
from schemas.errors import ConfigError
from schemas.records import to_record
from schemas.settings import Settings
from sitegraph.cli.options import (
    FormatOption,
    IndexOption,
    QuietOption,
    damage_records,
    generation_option,
    kept_generation,
    print_result,
)

if TYPE_CHECKING:
    from flows.repair.prove import Proof
    from flows.run.index import Index
    from runtime.progress import StageProgress

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
    settings = read_settings(index)
    if read_marker(Path(settings.index)) is not None:
        if deep or rebuild or rebuild_sample is not None:
            raise ConfigError(
                "is a copy, which holds no bytes to derive it from; prove the index that it was copied from",
                subject=settings.index,
            )
        _verify_copy(settings, output)
        return
    from flows.run.damage import find_damage
    from flows.run.opening import open_existing
    from indexes.layout import remedy
    from runtime.progress import StageProgress

    proof: Proof | None = None
    with closing(open_existing(settings)) as opened:
        number = kept_generation(opened, generation)
        with StageProgress(quiet=quiet) as progress:
            damage = list(find_damage(opened, number, progress=progress))
            readable = number > 0 and not any(path.startswith("lance/") for path, _ in damage)
            if deep and readable:
                from flows.repair.compare import search_damage

                damage += search_damage(opened, number, progress)
            if (rebuild or rebuild_sample is not None) and readable:
                proof = _prove(opened, number, rebuild_sample, seed, progress)
    root = opened.layout.root
    if proof is None and (rebuild or rebuild_sample is not None) and number > 0:
        print("nothing was derived again: repair the tables first", file=sys.stderr)
    _tell(number, damage, f"{remedy(root)}\n{_fetched_again(root)}", output, proof=proof, root=root)


def _prove(opened: "Index", number: int, sample: int | None, seed: int, progress: "StageProgress") -> "Proof":
    from flows.repair.prove import prove_all, prove_sample
    from sitegraph.actions.export_records import rows

    if sample is not None:
        return prove_sample(opened, number, count=sample, seed=seed, progress=progress)
    stable = partial(rows, source=None, stable=True, vectors=False)
    return prove_all(
        opened,
        number,
        rows_of=lambda index, table, generation: stable(index, table, generation=generation),
        progress=progress,
    )


def _verify_copy(settings: Settings, output: str) -> None:
    """Compare the files of a copy; its rows were compared where they were published."""
    from indexes.copies.contents import damage_in_copy
    from indexes.layout import IndexLayout, remedy
    from indexes.publish.current import read_current
    from indexes.publish.generation import open_trust

    layout = IndexLayout(Path(settings.index))
    damage = damage_in_copy(layout, trust=open_trust(settings.trust))
    _tell(read_current(layout.root), damage, remedy(layout.root), output, root=layout.root)


def _tell(
    number: int,
    damage: Sequence[tuple[str, str]],
    remedy: str,
    output: str,
    *,
    root: Path,
    proof: "Proof | None" = None,
) -> None:
    """Print what is wrong on stderr, with what to do, and the verdict; exit with 1 if anything is."""
    differences = proof.differences if proof else ()
    faults = len(damage) + len(differences)
    record = {"generation": number, "damage": damage_records(damage)}
    verdict = "intact" if not faults else f"{faults} fault{'s' if faults > 1 else ''}"
    lines = [*(proof_lines(proof) if proof else ()), f"generation {number}: {verdict}"]
    if output == "text":
        found = [f"{subject}: {what}" for subject, what in damage]
        found += [f"{one.table} {one.id}: {one.what}" for one in differences]
        shown = _SHOWN if proof else faults
        repair = f"repair it with: sitegraph repair --rows --index {shlex.quote(str(root))}"
        more = [f"… and {faults - shown} more (--format json)"] if faults > shown else []
        for line in (*found[:shown], *more, *([remedy if damage else repair] if faults else ())):
            print(line, file=sys.stderr)
    print_result(output, {**record, **({"proof": proof_record(proof)} if proof else {})}, lines)
    if faults:
        raise typer.Exit(1)


def _fetched_again(index: Path) -> str:
    """What brings back bytes that nothing else holds."""
    where = shlex.quote(str(index))
    return f"what it cannot repair is fetched again with: sitegraph run SOURCE.yaml --index {where} --repair"


def proof_record(proof: "Proof") -> dict[str, Any]:
    """Return a proof as a JSON object."""
    undecided = [{"url": url, "reason": reason} for url, reason in proof.undecided]
    return {**to_record(proof), "undecided": undecided}


def proof_lines(proof: "Proof") -> list[str]:
    """Say how many documents were derived, how they were chosen, and why others could not be."""
    chosen = "" if proof.sample is None else f" (sample of {proof.documents} by seed {proof.seed})"
    lines = [f"derived again from bytes: {proof.derived} of {proof.documents} documents{chosen}"]
    reasons = Counter(reason for _, reason in proof.undecided)
    lines += [f"  {number} not: {reason}" for reason, number in reasons.most_common()]
    tables = Counter(one.table for one in proof.differences)
    lines += [f"  {number} of {table} differ" for table, number in sorted(tables.items())]
    return lines
