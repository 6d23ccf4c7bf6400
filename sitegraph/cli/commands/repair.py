"""`sitegraph repair`: make a damaged index whole from what is whole of it, without a request."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from runtime.settings import read_settings
from sitegraph.cli.hints import complete_commands
from sitegraph.cli.options import FormatOption, IndexOption, OutputFormat, QuietOption, print_json

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
    output: FormatOption = OutputFormat.TEXT,
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
    if output is OutputFormat.JSON:
        print_json(_record(done, dry_run=dry_run))
    else:
        _print(done, dry_run=dry_run, index=index)
    if _is_left(done, dry_run=dry_run):
        raise typer.Exit(1)


def _record(done: "Repaired", *, dry_run: bool) -> dict[str, Any]:
    return {
        "generation": done.generation,
        "dry_run": dry_run,
        "complete": done.complete,
        "steps": [
            {"action": step.action.value, "how": step.how, "damage": _told(step.damage)}
            for step in done.steps
        ],
        "published": list(done.published),
        "left": _told(done.left) if not dry_run else [],
    }


def _told(damage: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"subject": subject, "what": what} for subject, what in damage]


def _is_left(done: "Repaired", *, dry_run: bool) -> bool:
    refused = any(step.action.value == "refused" for step in done.steps)
    return refused or (bool(done.left) and not dry_run)


def _print(done: "Repaired", *, dry_run: bool, index: str | None) -> None:
    told = set[tuple[str, str]]()
    for step in done.steps:
        print(complete_commands(f"{step.action.value}: {step.how}", index=index))
        new = [
            one for one in step.damage if one not in told
        ]  # rows that a difference did not repair come again
        told.update(new)
        for subject, what in new[:_SHOWN]:
            print(f"  {subject}: {what}")
        if len(new) > _SHOWN:
            print(f"  … and {len(new) - _SHOWN} more (--format json)")
    if dry_run:
        print(_end_of_plan(done))
        return
    for number in done.published:
        print(f"generation {number} published")
    if done.left:
        print("not repaired:", file=sys.stderr)
        for subject, what in done.left[: _SHOWN * 4]:
            print(f"  {subject}: {what}", file=sys.stderr)
    print(f"generation {done.generation}: " + ("damaged" if done.left else "intact"))


def _end_of_plan(done: "Repaired") -> str:
    if not done.complete:
        return "this is the start of the plan; further damage shows only after it; nothing was done"
    return "this is the plan; nothing was done" if done.steps else "nothing is damaged"
