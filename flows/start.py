"""How `sitegraph run` starts a run: as a flow, unless there is nothing new and no server to tell of it."""

import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from flows.begun import BegunRun, handed_over
from flows.look import look
from flows.run.opening import open_run
from flows.run.stages import Stages
from flows.run.watch import watched_run
from flows.server.configured import may_be_configured
from indexes.layout import IndexLayout
from runtime.clock import SystemClock
from schemas.causes import caused_by
from schemas.cost import Cause
from schemas.errors import SitegraphError
from schemas.records import to_record


def run_source(
    source: str,
    *,
    index: str | None,
    folder: Path,
    graph: str | None,
    model: str | None = None,
    due: bool,
    accept: bool,
    repair: bool = False,
    quiet: bool = False,
) -> dict[str, Any]:
    """Bring the index in *folder* up to date with a source, and give the run's report.

    Where no Prefect server is configured the run first looks by itself. If all is as readers see it, that is
    the whole run; anything else, an error too, becomes a flow run that goes on from there.

    Raises what the flow raises.
    """
    options: dict[str, Any] = {"source": source, "index": index, "graph": graph, "model": model}
    options |= {"accept": accept, "repair": repair, "quiet": quiet}
    with watched_run(source, index=index, say=_warn) as watch:
        watch.report = report = _run(options, folder=folder, due=due)
        return report


def _warn(line: str) -> None:
    sys.stderr.write(f"sitegraph: warning: {line}\n")


def _run(options: dict[str, Any], *, folder: Path, due: bool) -> dict[str, Any]:
    if may_be_configured(os.environ, Path.cwd()) or not IndexLayout(folder).manifest.exists():
        return _run_flow(**options, due=due)
    clock = SystemClock()
    stages = Stages(clock)
    with ExitStack() as stack:
        with stages.timed("start"), caused_by(Cause.START):
            resources = stack.enter_context(open_run(**options))
        report = None
        # The flow run comes upon the error again, and shows it.
        with suppress(SitegraphError):
            report = look(resources, due=due, stages=stages)
        if report is not None:
            return to_record(report)
        with handed_over(BegunRun(resources, stages, since=clock.monotonic())):
            return _run_flow(**options, due=due)


def _run_flow(**options: Any) -> dict[str, Any]:
    with caused_by(Cause.PREFECT):
        from flows.server.temporary import prefect_api

        with prefect_api():
            from flows.recrawl import index_source

            report: dict[str, Any] = index_source(**options)
            return report
