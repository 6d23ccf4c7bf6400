"""The `sitegraph` command: one verb a file, exit codes and the last `except` here."""

import logging
import os
import resource
import signal
import sys
import traceback
from collections.abc import Collection
from importlib import import_module
from types import FrameType
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from runtime.settings import raise_gc_threshold, show_errors_alone
from schemas.advice import COMMAND_LINE, advise
from schemas.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, ConfigError, signal_in_error
from schemas.leaving import leave
from schemas.redaction import escape_unwritable, one_line
from schemas.settings import is_on, version_line
from sitegraph.cli.failures import EXIT_TERMINATED, explain_error
from sitegraph.cli.options import door_of

ADDRESS_SPACE = 4 * 2**30
"""Bytes; a query was ended at 2.5 GB and answered at 3.5 GB, most of it reserved and never used."""

_INTERRUPTED = "interrupted; run again to continue"

COMMANDS = {
    "demo": "Try sitegraph on its own manual.",
    "init": "Write a source file for a site, folder or repository.",
    "plan": "Show what a run would do, without sending a request.",
    "run": "Crawl a source, index what changed, and publish it.",
    "deploy": "Schedule sources on a Prefect server, with alarms.",
    "status": "Show the current generation, sources, last runs and leases.",
    "completeness": "Show which named addresses are not indexed, and why.",
    "why": "Explain the history and state of one document.",
    "changes": "List what each generation changed, for programs that keep a copy.",
    "query": "Find evidence for a question.",
    "ask": "Answer a question in sentences, each with its source.",
    "wiki": "List, search, read and check wiki pages.",
    "show": "Open a citation: the PDF page, or the section.",
    "diff-versions": "Show what changed from one version of a manual to another.",
    "blame": "Show when a passage got its present wording, and what it said before.",
    "graph": "Show the graph around a node.",
    "serve": "Serve the index over HTTP.",
    "audiences": "Build and list what groups of readers see.",
    "mcp": "Serve the index to an agent over MCP.",
    "pull": "Copy an index from elsewhere, or bring a copy up to date.",
    "inspect": "Show how one document is parsed.",
    "export": "Export rows, the graph or usage logs.",
    "lint": "Find what is wrong with the documentation itself.",
    "check": "Ask what the index must answer, as a run does before it publishes.",
    "tune": "Fit the ranking weights to questions with known answers.",
    "verify": "Check the whole index for damage.",
    "maintain": "Compact tables and delete what nothing needs, beside readers and runs.",
    "repair": "Repair a damaged index, without sending a request.",
    "rollback": "Return to an earlier generation, or lift the hold.",
    "drop": "Remove a source from the index.",
    "keys": "Print the public key of signed requests, for the sites that get them.",
    "doctor": "Check what this machine and its configuration lack.",
}
"""What each command does in a line; its module is imported when it is called."""


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    pass


def build_commands(names: Collection[str] = COMMANDS.keys()) -> typer.Typer:
    """Make the application with the commands of these *names*."""
    app = typer.Typer(
        name="sitegraph",
        help="Crawl websites and documents into a searchable graph, and keep it up to date.",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        epilog="Start with: sitegraph demo. Exit codes: 0 ok, 1 failed or damage, 2 usage, "
        "3 store unavailable, 4 refused by a guard, 130 Ctrl-C, 143 SIGTERM.",
    )
    app.callback()(_options)
    for name in names:
        called = name.replace("-", "_")
        module = "sitegraph.cli.demo_script" if name == "demo" else f"sitegraph.cli.commands.{called}"
        app.command(name, short_help=COMMANDS[name])(getattr(import_module(module), called))
    return app


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
    leave(run_app(sys.argv[1:]))


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
        app = build_commands(COMMANDS.keys() & set(arguments[:1]) or COMMANDS.keys())
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
    return next((argument for argument in arguments if argument in COMMANDS), "sitegraph")


def _fail(error: Exception, arguments: list[str]) -> int:
    if stop := signal_in_error(error):
        return EXIT_TERMINATED if isinstance(stop, SystemExit) else _say(_INTERRUPTED, EXIT_INTERRUPTED)
    if _is_debugging(os.environ.get("SITEGRAPH_DEBUG", "")):
        traceback.print_exception(error)
    if isinstance(error, OSError):
        _leave_unwritable_output()
    if (failure := explain_error(error, command=command_of(arguments))) is not None:
        return _say(advise(failure.message, door_of(arguments)), failure.code)
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
