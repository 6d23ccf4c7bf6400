"""The `sitegraph` command: one verb a file, exit codes and the last `except` here."""

import errno
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from flows.cli import (
    ask,
    changes,
    demo,
    drop,
    export,
    graph,
    inspect,
    plan,
    query,
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
from flows.cli.hints import complete_for_call
from flows.collecting import collect_seldom
from schemas.errors import (
    ConfigError,
    FilterError,
    GuardRefused,
    QueryRefused,
    SchemaMismatch,
    SitegraphError,
    Stopped,
    StoreUnavailable,
)
from schemas.redaction import one_line

EXIT_FAILED, EXIT_USAGE, EXIT_UNAVAILABLE, EXIT_REFUSED = 1, 2, 3, 4
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143

_INTERRUPTED = "interrupted; run again to go on"

app = typer.Typer(
    name="sitegraph",
    help="Keep a searchable graph of websites and PDFs true to their source.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: sitegraph demo. Exit codes: 0 ok, 1 failed or damage, 2 usage, "
    "3 store unavailable, 4 refused by a guard, 130 Ctrl-C, 143 SIGTERM.",
)

COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("demo", demo.demo, "See it work on sitegraph's own manual."),
    ("plan", plan.plan, "Show what a run would look at; sends no request."),
    ("run", run.run, "Crawl a source, index what changed, publish it."),
    ("status", status.status, "Show generation, sources, last runs, leases, holds."),
    ("why", why.why, "Tell everything known of one document."),
    ("changes", changes.changes, "Print what each generation changed, for programs that keep a copy."),
    ("query", query.query, "Print the passages that answer a question."),
    ("ask", ask.ask, "Answer a question in sentences with their sources."),
    ("wiki", wiki.wiki, "List, search, read and check the pages that answers were filed on."),
    ("show", show.show, "Open a citation: its page, or its section."),
    ("graph", graph.graph, "Show the neighbourhood of a node."),
    ("serve", serve.serve, "Answer over HTTP."),
    ("inspect", inspect.inspect, "Show what the parser makes of one document."),
    ("export", export.export, "Print every row as JSON lines."),
    ("tune", tune.tune, "Fit the weights of a score on questions with known answers."),
    ("verify", verify.verify, "Read everything back and look for damage."),
    ("rollback", rollback.rollback, "Go back to an earlier generation, or lift the hold."),
    ("drop", drop.drop, "Remove a source from the index."),
)
for _name, _command, _summary in COMMANDS:
    app.command(_name, short_help=_summary)(_command)


def main() -> NoReturn:
    """Run the command line and exit with the code that docs/reference/exit-codes.md promises."""
    signal.signal(signal.SIGTERM, _terminate)
    collect_seldom()
    for package in ("flows", "ingest", "indexes", "retrieval"):
        # What is logged is Prefect's to show; a command says what a person should know.
        logging.getLogger(package).addHandler(logging.NullHandler())
    sys.exit(run_app(sys.argv[1:]))


def run_app(arguments: list[str]) -> int:
    """Run one command; what it raises becomes one line on stderr and an exit code."""
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
    except SitegraphError as error:
        return _say(complete_for_call(str(error), arguments), exit_code(error))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            _leave_unwritable_output()
            return _say("the disk is full. What readers see is as it was; make room, try again", EXIT_FAILED)
        return _fail(error)
    except UnicodeEncodeError:
        return _say("what was asked for is not UTF-8", EXIT_USAGE)
    except Exception as error:  # noqa: BLE001 - the last one: nobody above can say it better
        return _fail(error)
    if result == EXIT_INTERRUPTED:  # typer turns Ctrl-C into a code
        return _say(_INTERRUPTED, EXIT_INTERRUPTED)
    return result if isinstance(result, int) else 0


def exit_code(error: SitegraphError) -> int:
    """Give the exit code of an error by its class."""
    if isinstance(error, ConfigError | FilterError | SchemaMismatch):
        return EXIT_USAGE
    if isinstance(error, StoreUnavailable):
        return EXIT_UNAVAILABLE
    if isinstance(error, GuardRefused | QueryRefused):
        return EXIT_REFUSED
    return EXIT_INTERRUPTED if isinstance(error, Stopped) else EXIT_FAILED


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


def _fail(error: Exception) -> int:
    if os.environ.get("SITEGRAPH_DEBUG"):
        traceback.print_exception(error)
    return _say(
        f"internal failure: {str(error) or type(error).__name__} (SITEGRAPH_DEBUG=1 shows where)", EXIT_FAILED
    )


def _say(message: str, code: int) -> int:
    print(f"sitegraph: {one_line(message)}", file=sys.stderr)
    return code


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    print("sitegraph: terminated; run again to go on", file=sys.stderr)
    sys.exit(EXIT_TERMINATED)


if __name__ == "__main__":
    main()
