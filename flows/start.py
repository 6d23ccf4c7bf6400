"""How `sitegraph run` starts a run: in this process, or as a flow where a Prefect server is configured."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from flows.local import run_here
from flows.run.opening import open_run
from flows.run.prefect_server import configured_server
from flows.run.stages import Stages
from flows.run.watch import watched_run
from runtime.clock import SystemClock
from runtime.proxies import without_unspoken
from runtime.settings import read_settings
from runtime.task_runners import THREADS
from schemas.advice import COMMAND_LINE, Door, DoorKind, advise
from schemas.causes import caused_by
from schemas.cost import Cause
from schemas.errors import SitegraphError
from schemas.records import to_record


def run_source(source: str, *, due: bool, prefect: bool = False, **options: Any) -> dict[str, Any]:
    """Bring an index up to date with a source, and give the run's report.

    Args: prefect: a flow run, though no server is configured; Prefect starts one until it ends. options: as
    `flows.run.opening.open_run` has them.

    Raises: what `open_run` and the stages raise, with advice for who called this.
    """
    with watched_run(source, index=options.get("index"), say=_warn) as watch:
        run = _run_flow if prefect or _needs_flow(options.get("index")) else _run_here
        watch.report = report = run(source=source, due=due, **options)
        return report


def _warn(line: str) -> None:
    sys.stderr.write(f"sitegraph: warning: {line}\n")


def _needs_flow(index: str | None) -> bool:
    return read_settings(index=index).task_runner != THREADS or configured_server() is not None


def _run_here(*, due: bool, **options: Any) -> dict[str, Any]:
    stages = Stages(SystemClock())
    with ExitStack() as stack:
        stack.enter_context(_advised(options))
        with stages.timed("start"), caused_by(Cause.START):
            resources = stack.enter_context(open_run(**options))
        return to_record(run_here(resources, due=due, stages=stages))


@contextmanager
def _advised(options: Mapping[str, Any]) -> Iterator[None]:
    """Word the advice of errors for a program that calls this; a command words it by its own line."""
    try:
        yield
    except SitegraphError as error:
        if COMMAND_LINE.get() is None:
            door = Door(kind=DoorKind.PYTHON, index=options.get("index"), source=options["source"])
            error.message = advise(error.message, door)
        raise


def _run_flow(**options: Any) -> dict[str, Any]:
    with caused_by(Cause.PREFECT), without_unspoken(os.environ):
        from flows.recrawl import index_source

        report: dict[str, Any] = index_source(**options)
        return report
