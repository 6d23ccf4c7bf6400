"""The `sitegraph` command: one verb a file, exit codes and the last `except` here."""

import logging
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from runtime.driver_logs import show_errors_alone
from runtime.garbage import raise_gc_threshold
from schemas.advice import COMMAND_LINE
from schemas.errors import ConfigError
from schemas.program import version_line
from schemas.redaction import one_line
from schemas.settings import is_on
from schemas.signal_in_error import signal_in_error
from schemas.text_streams import escape_unwritable
from sitegraph.cli import demo
from sitegraph.cli.commands import (
    ask,
    audiences,
    blame,
    changes,
    check,
    deploy,
    diff_versions,
    doctor,
    drop,
    export,
    graph,
    init,
    inspect,
    lint,
    maintain,
    mcp,
    plan,
    pull,
    query,
    repair,
    rollback,
    run,
    serve,
    show,
    status,
    tune,
    verify,
    why,
    wiki,
)
from sitegraph.cli.failures import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_TERMINATED, EXIT_USAGE, explain
from sitegraph.cli.hints import complete_for_call, door_of

ADDRESS_SPACE = 4 * 2**30
"""Bytes; a query was ended at 2.5 GB and answered at 3.5 GB, most of it reserved and never used."""

_INTERRUPTED = "interrupted; run again to continue"

app = typer.Typer(
    name="sitegraph",
    help="Crawl websites and documents into a searchable graph, and keep it up to date.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: sitegraph demo. Exit codes: 0 ok, 1 failed or damage, 2 usage, "
    "3 store unavailable, 4 refused by a guard, 130 Ctrl-C, 143 SIGTERM.",
)

COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("demo", demo.demo, "Try sitegraph on its own manual."),
    ("init", init.init, "Write a source file for a site, folder or repository."),
    ("plan", plan.plan, "Show what a run would do, without sending a request."),
    ("run", run.run, "Crawl a source, index what changed, and publish it."),
    ("deploy", deploy.deploy, "Schedule sources on a Prefect server, with alarms."),
    ("status", status.status, "Show the current generation, sources, last runs and leases."),
    ("why", why.why, "Explain the history and state of one document."),
    ("changes", changes.changes, "List what each generation changed, for programs that keep a copy."),
    ("query", query.query, "Find evidence for a question."),
    ("ask", ask.ask, "Answer a question in sentences, each with its source."),
    ("wiki", wiki.wiki, "List, search, read and check wiki pages."),
    ("show", show.show, "Open a citation: the PDF page, or the section."),
    (
        "diff-versions",
        diff_versions.diff_versions,
        "Show what changed from one version of a manual to another.",
    ),
    ("blame", blame.blame, "Show when a passage got its present wording, and what it said before."),
    ("graph", graph.graph, "Show the graph around a node."),
    ("serve", serve.serve, "Serve the index over HTTP."),
    ("audiences", audiences.audiences, "Build and list what groups of readers see."),
    ("mcp", mcp.mcp, "Serve the index to an agent over MCP."),
    ("pull", pull.pull, "Copy an index from elsewhere, or bring a copy up to date."),
    ("inspect", inspect.inspect, "Show how one document is parsed."),
    ("export", export.export, "Export rows, the graph or usage logs."),
    ("lint", lint.lint, "Find what is wrong with the documentation itself."),
    ("check", check.check, "Ask what the index must answer, as a run does before it publishes."),
    ("tune", tune.tune, "Fit the ranking weights to questions with known answers."),
    ("verify", verify.verify, "Check the whole index for damage."),
    ("maintain", maintain.maintain, "Compact tables and delete what nothing needs, beside readers and runs."),
    ("repair", repair.repair, "Repair a damaged index, without sending a request."),
    ("rollback", rollback.rollback, "Return to an earlier generation, or lift the hold."),
    ("drop", drop.drop, "Remove a source from the index."),
    ("doctor", doctor.doctor, "Check what this machine and its configuration lack."),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    pass


for _name, _command, _summary in COMMANDS:
    app.command(_name, short_help=_summary)(_command)


def main() -> NoReturn:
    """Run the command line and exit with the code that docs/reference/exit-codes.md promises."""
    signal.signal(signal.SIGTERM, _terminate)
    escape_unwritable(sys.stdout, sys.stderr)
    raise_gc_threshold()
    for package in ("sitegraph", "runtime", "flows", "ingest", "indexes", "retrieval"):
        # What is logged is Prefect's to show; a command says what a person should know.
        logging.getLogger(package).addHandler(logging.NullHandler())
    show_errors_alone()
    _warn_of_little_memory()
    sys.exit(run_app(sys.argv[1:]))


def _warn_of_little_memory() -> None:
    """Say beforehand what no exception tells: where memory runs out, libraries end the process (SIGABRT)."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ADDRESS_SPACE:
        least = f"{ADDRESS_SPACE // 2**20} MB"
        print(
            f"sitegraph: warning: only {limit // 2**20} MB of memory is allowed (ulimit -v); below "
            f"{least} a library may abort the program",
            file=sys.stderr,
        )


def run_app(arguments: list[str]) -> int:
    """Run one command; what it raises becomes one line on stderr and an exit code."""
    token = COMMAND_LINE.set(door_of(arguments))
    try:
        return _answer(arguments)
    finally:
        COMMAND_LINE.reset(token)


def _answer(arguments: list[str]) -> int:
    try:
        result = app(arguments or ["--help"], standalone_mode=False)
        sys.stdout.flush()  # here, where a closed pipe or a full disk still gets its exit code
    except TyperException as error:
        message = error.format_message().replace("Value error, ", "")
        return _say(f"{message} (sitegraph COMMAND --help shows the options)", EXIT_USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return _say(_INTERRUPTED, EXIT_INTERRUPTED)
    except BrokenPipeError:
        return _leave_pipe()
    except SystemExit as error:
        # Typer ends the process itself, with 1, where the reader of a long output went away.
        if isinstance(error.__context__, BrokenPipeError):
            return _leave_pipe()
        raise
    except Exception as error:  # noqa: BLE001 - the last one: nobody above can say it better
        is_unfit = isinstance(error, UnicodeEncodeError) or not _is_utf8([str(error)])
        if is_unfit and not _is_utf8(arguments):
            return _say("an argument is not valid UTF-8", EXIT_USAGE)
        return _fail(error, arguments)
    if result == EXIT_INTERRUPTED:  # typer turns Ctrl-C into a code
        return _say(_INTERRUPTED, EXIT_INTERRUPTED)
    return result if isinstance(result, int) else 0


def _is_utf8(arguments: list[str]) -> bool:
    """Whether all arguments are UTF-8; in place of other bytes Python has halves of surrogate pairs."""
    return not any("\ud800" <= char <= "\udfff" for char in "".join(arguments))


def _leave_pipe() -> int:
    """A reader that has enough is no failure."""
    _leave_unwritable_output()
    return 0


def _leave_unwritable_output() -> None:
    """Let what is still buffered go nowhere if it cannot be written: else Python exits with 120 over it."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command_of(arguments: list[str]) -> str:
    """Name the command that was called."""
    names = {name for name, _, _ in COMMANDS}
    return next((argument for argument in arguments if argument in names), "sitegraph")


def _fail(error: Exception, arguments: list[str]) -> int:
    if stop := signal_in_error(error):
        return EXIT_TERMINATED if isinstance(stop, SystemExit) else _say(_INTERRUPTED, EXIT_INTERRUPTED)
    if _is_debugging(os.environ.get("SITEGRAPH_DEBUG", "")):
        traceback.print_exception(error)
    if isinstance(error, OSError):
        _leave_unwritable_output()
    if (failure := explain(error, command=command_of(arguments))) is not None:
        return _say(complete_for_call(failure.message, arguments), failure.code)
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    return _say(f"internal error ({reason}); SITEGRAPH_DEBUG=1 shows the traceback", EXIT_FAILED)


def _is_debugging(value: str) -> bool:
    """Read the switch as all others are read; what is neither on nor off must not hide the error itself."""
    try:
        return bool(value) and is_on("SITEGRAPH_DEBUG", value)
    except ConfigError:
        return True


def _say(message: str, code: int) -> int:
    print(f"sitegraph: {one_line(message)}", file=sys.stderr)
    return code


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    print("sitegraph: terminated; run again to continue", file=sys.stderr)
    sys.exit(EXIT_TERMINATED)


if __name__ == "__main__":
    main()
