"""`sitegraph maintain`: compact tables, delete what nothing needs, vacuum the ledger, read a sample."""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from runtime.settings import read_settings
from sitegraph.cli.commands.run import prepare_prefect
from sitegraph.cli.options import FormatOption, IndexOption, QuietOption, print_result


def maintain(
    index: IndexOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show whether maintenance is due and why, and do nothing.")
    ] = False,
    quiet: QuietOption = False,
    output: FormatOption = "text",
) -> None:
    """Maintain an index while it is read and written: compact, sweep, vacuum, check a sample.

    Readers see no difference. Compacted tables replace the old ones with the next generation. Nothing breaks
    without it, but runs and searches get slower. Damage in the sample is exit code 1.

    Examples:

      sitegraph maintain --index ./index

      sitegraph maintain --dry-run

      sitegraph deploy sources/ --maintain "0 4 * * 0"
    """
    from flows.run.prefect_server import configured_server

    prepare_prefect(os.environ)
    if configured_server() is not None:
        from runtime.access import without_unspoken

        with without_unspoken(os.environ):
            from flows.maintain.flow import maintain as flow

            state: Any = flow(index=index, dry_run=dry_run, quiet=quiet, return_state=True)
            record = state.result(raise_on_failure=False)
            if isinstance(record, BaseException):
                raise record
    else:
        from flows.maintain.steps import maintain_index

        record = maintain_index(read_settings(index), dry_run=dry_run, quiet=quiet)
    print_result(output, record, told_maintenance(record))
    for subject, what in record["sample"]["damage"]:
        print(f"{subject}: {what}", file=sys.stderr)
    if record["sample"]["damage"]:
        raise typer.Exit(1)


def told_maintenance(record: Mapping[str, Any]) -> Iterator[str]:
    """Tell a report to a person."""
    due = record["due"]
    verdict = "is due" if due else "is not due"
    yield f"generation {record['generation']}: maintenance " + (verdict if record["dry_run"] else "done")
    yield from (f"  due        {reason}" for reason in due)
    if record["dry_run"]:
        return
    before, after = record["before"], record["after"]
    for name, now in after["tables"].items():
        then = before["tables"].get(name, now)
        yield f"  {name:<10} " + ", ".join(
            f"{key} {then[key]} > {now[key]}" for key in ("files", "segments", "deleted")
        )
    yield from (f"  skipped    {reason}" for reason in record["skipped"])
    if after["table_bytes"] is not None:
        sizes = f"{_mb(before['table_bytes'])} > {_mb(after['table_bytes'])}"
        yield f"  tables     {sizes}, with what readers still use"
    yield f"  ledger     {_mb(before['ledger_bytes'])} > {_mb(after['ledger_bytes'])}"
    yield f"  swept      {record['swept']} files"
    sample = record["sample"]
    read = f"{sample['files']} files and {sample['documents']} documents"
    yield f"  sample     {read}, {len(sample['damage'])} faults"
    yield "  seconds    " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in record["steps"].items())


def _mb(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 1e6:.1f} MB"
