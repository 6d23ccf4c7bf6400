"""`sitegraph plan`: what a run would do, before it does anything."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.options import FormatOption, IndexOption, OutputFormat, check_folder, print_json
from flows.settings import read_settings

MAX_LINES = 40


def plan(
    source: Annotated[Path, typer.Argument(metavar="SOURCE.yaml", help="Source file.")],
    index: IndexOption = None,
    due: Annotated[bool, typer.Option("--due", help="Only documents whose time has come.")] = False,
    output: FormatOption = OutputFormat.TEXT,
) -> None:
    """Show which documents a run would look at, parse again or remove, and why. Sends no request.

    Examples:

      sitegraph plan handbook.yaml --index ./index

      sitegraph plan handbook.yaml --due --format json
    """
    from flows.planning import plan_run

    settings = read_settings(index)
    check_folder(settings)
    record = plan_run(source, settings, due=due)
    print_json(record) if output is OutputFormat.JSON else _print(record)


def _print(record: dict[str, Any]) -> None:
    counts = ", ".join(f"{n} {action}" for action, n in record["counts"].items()) or "nothing"
    print(f"{record['source']}: {counts}")
    for row in record["documents"][:MAX_LINES]:
        print(f"  {row['action']:<8} {row['url']}  ({row['reason']})")
    if len(record["documents"]) > MAX_LINES:
        print(f"  … and {len(record['documents']) - MAX_LINES} more (--format json)")
