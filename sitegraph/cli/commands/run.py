"""`sitegraph run`: bring an index up to date with one source."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from indexes.places import place_of
from runtime.settings import check_makeable, read_settings
from schemas.cost import Cause
from schemas.errors import ConfigError
from sitegraph.cli.options import (
    AllowPrivateOption,
    FormatOption,
    IndexOption,
    ModelOption,
    QuietOption,
    check_folder,
    complete_commands,
    print_json,
    refuse_unknown_model,
)
from sitegraph.cli.run_text import render_report


def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Source file; or, for a try, a URL, a folder, a repository or a document."
        ),
    ],
    index: IndexOption = None,
    graph: Annotated[
        str | None, typer.Option(help="Graph store of a new index: lance (default) or neo4j.")
    ] = None,
    model: ModelOption = None,
    due: Annotated[bool, typer.Option("--due", help="Check only documents that are due.")] = False,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Publish even if much is removed, quarantined or failing, publishing is on hold, questions "
            "have lost their evidence, or the model has changed; remove pages that answer 404 at once. An "
            "empty source still stops the run, and so does a seed that cannot be read if no other can.",
        ),
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="First compare every file and row with its hash, and rebuild what is damaged."
        ),
    ] = False,
    allow_private: AllowPrivateOption = None,
    prefect: Annotated[
        bool, typer.Option("--prefect", help="Run as a Prefect flow although no server is configured.")
    ] = False,
    quiet: QuietOption = False,
    output: FormatOption = "text",
) -> None:
    """Crawl a source, index what changed, and publish it as one generation.

    Resumes an interrupted run. If nothing changed, nothing is written and no generation is made. Every run
    repairs the damage it sees; --repair looks everywhere.

    Without a source file it is a trial run: of a URL it reads at most 50 pages, those in its folder; of a
    folder, a repository or a document, everything. A source file, as sitegraph init writes it, has no limit.

    Examples:

      sitegraph run handbook.yaml --index ./index

      sitegraph run https://docs.example.org/handbook/

      sitegraph run ./docs/decisions

      sitegraph run manual.pdf

      sitegraph run handbook.yaml --index ./index --model bge-small-en-v1.5

      sitegraph run handbook.yaml --index ./index --repair

      sitegraph run handbook.yaml --due --format json

    Where a Prefect server is configured (PREFECT_API_URL, or a profile), a run is a flow run on it.
    """
    from runtime.source_file import load_source
    from sitegraph.actions.propose import as_file_of, say_how_to_go_on
    from sitegraph.actions.target import is_source_file

    is_try = not is_source_file(source)
    if allow_private and not is_try:
        raise ConfigError(
            "belongs in the source file (allow_private); the option is only for a trial run",
            subject="--allow-private",
        )
    settings = read_settings(index, graph=graph, model=model)
    with as_file_of(source, settings, allow_private=allow_private or (), is_try=is_try, quiet=quiet) as path:
        # What is wrong with the call is told at once, not after Prefect has started.
        load_source(path)
        check_folder(settings)
        check_makeable(place_of(settings))
        refuse_unknown_model(settings)
        prepare_prefect(os.environ)
        from flows.start import run_source
        from runtime.cost import METER

        METER.charge_past(Cause.START)

        report = run_source(
            str(path), settings, due=due, accept=accept, repair=repair, prefect=prefect, quiet=quiet
        )
    if output == "json":
        print_json(report)
    else:
        print_report(report, source=source, index=index)
        _say_maintenance(place_of(settings), index=index)
    if is_try and not quiet:
        say_how_to_go_on(source, index=index, allow_private=allow_private or ())


def _say_maintenance(folder: Path, *, index: str | None) -> None:
    """Say on stderr that maintenance is due; runs do without it, only dearer."""
    from indexes.health import due_of
    from indexes.layout import IndexLayout, load_manifest

    layout = IndexLayout(folder)
    if due := due_of(layout, load_manifest(layout)):
        line = f"sitegraph: maintenance is due ({'; '.join(due)}): sitegraph maintain"
        print(complete_commands(line, index=index), file=sys.stderr)


def prepare_prefect(environ: Any) -> None:
    """Have Prefect keep its log on its server, and report nothing to its makers; what the user set stays."""
    # Whoever asks Prefect for a level wants to see what it logs; anybody else has our progress to look at.
    quiet = (
        {} if "PREFECT_LOGGING_LEVEL" in environ else {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"}
    )
    defaults = {
        **quiet,
        "PREFECT_LOGGING_LEVEL": "INFO",
        "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # Of a server that Prefect starts for one run; on a busy machine making its database takes minutes.
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "600",
        "PREFECT_CLI_COLORS": "false",
        "DO_NOT_TRACK": "1",
    }
    environ.update({name: value for name, value in defaults.items() if name not in environ})


def print_report(report: dict[str, Any], *, source: str, index: str | None) -> None:
    """Print a run's report for a person."""
    for line in render_report(report):
        print(complete_commands(line, index=index, source=source))
    for problem in report["problems"][:20]:
        print(f"  problem    {problem['url']}: {problem['reason']}", file=sys.stderr)
    if len(report["problems"]) > 20:
        print(f"  problem    … and {len(report['problems']) - 20} more (--format json)", file=sys.stderr)
