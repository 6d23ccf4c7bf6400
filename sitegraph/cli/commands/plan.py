"""`sitegraph plan`: what a run would do, before it does anything."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from runtime.settings import read_settings
from schemas.advice import ADVICE, Trouble
from sitegraph.cli.options import (
    FormatOption,
    IndexOption,
    ModelOption,
    check_folder,
    complete_commands,
    print_result,
)

MAX_LINES = 40


def plan(
    source: Annotated[Path, typer.Argument(metavar="SOURCE.yaml", help="Source file.")],
    index: IndexOption = None,
    model: ModelOption = None,
    due: Annotated[bool, typer.Option("--due", help="Only documents that are due.")] = False,
    output: FormatOption = "text",
) -> None:
    """Show what a run would fetch, parse again, publish, embed and remove, and why.

    Sends no request, so links and sitemaps may lead the run to more documents.

    Examples:

      sitegraph plan handbook.yaml --index ./index

      sitegraph plan handbook.yaml --due --format json
    """
    from flows.preview import plan_run

    settings = read_settings(index, model=model)
    check_folder(settings)
    record = plan_run(source, settings, due=due)
    complete = partial(complete_commands, index=index, source=str(source))
    print_result(output, record, plan_lines(record, complete))


def plan_lines(record: dict[str, Any], complete: Callable[[str], str]) -> Iterator[str]:
    """Tell a plan to a person; *complete* writes what was typed into the commands that it advises."""
    seen = f"generation {record['generation']}" if record["generation"] else "no generation yet"
    yield f"{record['source']}: {record['known']} documents known, {seen}"
    for action, reasons in record["reasons"].items():
        for place, (reason, number) in enumerate(reasons.items()):
            yield f"  {'' if place else action:<8} {number:>7}  {reason}"
    if not record["reasons"]:
        yield "  nothing to do"
    for line in (*_embedding(record["embed"]), *_model(record["model"]), *_objections(record)):
        yield f"  {complete(line)}"
    for row in record["documents"][:MAX_LINES]:
        why = " ".join(part for part in (row["reason"], row["detail"]) if part)
        yield f"    {row['action']:<8} {row['url']}  ({why})"
    if len(record["documents"]) > MAX_LINES:
        yield f"    … and {len(record['documents']) - MAX_LINES} more (--format json)"


def _embedding(embed: dict[str, int]) -> Iterator[str]:
    if embed["texts"]:
        yield f"embed    {embed['texts']:>7}  texts without a vector"
    if embed["passages_up_to"]:
        yield f"embed    up to {embed['passages_up_to']} passages, if parsing again changes them all"


def _model(change: dict[str, Any] | None) -> Iterator[str]:
    if change:
        yield (
            f"model    {change['from']} gives way to {change['to']}: {change['texts']} texts of all "
            f"{change['passages']} passages of the index are encoded; "
            f"{ADVICE[Trouble.LOSS]}"
        )


def _objections(record: dict[str, Any]) -> Iterator[str]:
    for problem in record.get("left_out", ())[:MAX_LINES]:
        yield f"{problem['url']}  {problem['reason']}"
    if record["guard"]:
        yield f"guard    would stop the run: {record['guard']}; {ADVICE[Trouble.LOSS]}"
    if record["held_since"]:
        since = record["held_since"]
        yield f"hold     publishing has been held since {since}; {ADVICE[Trouble.HELD]}"
