"""`sitegraph repair`: make a damaged index whole from what is whole of it, without a request."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runtime.settings import read_settings
from sitegraph.cli.options import (
    FormatOption,
    IndexOption,
    QuietOption,
    complete_commands,
    damage_records,
    print_result,
)

if TYPE_CHECKING:
    from flows.repair.repair import Repaired

_SHOWN = 5
"""Faults of one kind that a person is shown; --format json has all."""


def repair(
    index: IndexOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")
    ] = False,
    rows: Annotated[
        bool,
        typer.Option(
            "--rows", help="Also link every document again, and publish the rows that differ, seen or not."
        ),
    ] = False,
    quiet: QuietOption = False,
    output: FormatOption = "text",
) -> None:
    """Find what is damaged, and rebuild it from what is intact: stores from parsed documents, those from
    bytes, the ledger from the graph, vectors from the chunk store.

    No request is sent. Files with a hash are repaired in place; rows are published as a new generation. What
    cannot be rebuilt is listed with a line that says what to do, and the exit code is 1.

    Examples:

      sitegraph repair --dry-run --index ./index

      sitegraph repair --index ./index

      sitegraph repair --rows --format json
    """
    from flows.repair.repair import plan_repair_of, repair_index
    from runtime.progress import StageProgress

    settings = read_settings(index)
    if dry_run:
        with StageProgress(quiet=quiet) as progress:
            done = plan_repair_of(settings, rows=rows, progress=progress)
    else:
        done = repair_index(settings, rows=rows, quiet=quiet)
    left = done.left if not dry_run else ()
    print_result(
        output, _record(done, left, dry_run=dry_run), repair_lines(done, dry_run=dry_run, index=index)
    )
    if left and output == "text":
        print("not repaired:", file=sys.stderr)
        for subject, what in left[: _SHOWN * 4]:
            print(f"  {subject}: {what}", file=sys.stderr)
    if left or any(step.part.value == "refused" for step in done.steps):
        raise typer.Exit(1)


def _record(done: "Repaired", left: Iterable[tuple[str, str]], *, dry_run: bool) -> dict[str, Any]:
    return {
        "generation": done.generation,
        "dry_run": dry_run,
        "complete": done.complete,
        "steps": [
            {"action": step.part.value, "how": step.how, "damage": damage_records(step.damage)}
            for step in done.steps
        ],
        "published": list(done.published),
        "left": damage_records(left),
    }


def repair_lines(done: "Repaired", *, dry_run: bool, index: str | None) -> Iterator[str]:
    """Tell a person what was done, or would be; damage that several steps repair is told once."""
    told = set[tuple[str, str]]()
    for step in done.steps:
        yield complete_commands(f"{step.part.value}: {step.how}", index=index)
        new = [one for one in step.damage if one not in told]
        told.update(new)
        yield from (f"  {subject}: {what}" for subject, what in new[:_SHOWN])
        if len(new) > _SHOWN:
            yield f"  … and {len(new) - _SHOWN} more (--format json)"
    if not dry_run:
        yield from (f"generation {number} published" for number in done.published)
        yield f"generation {done.generation}: " + ("damaged" if done.left else "intact")
    elif not done.complete:
        yield "this is the start of the plan; further damage shows only after it; nothing was done"
    else:
        yield "this is the plan; nothing was done" if done.steps else "nothing is damaged"
