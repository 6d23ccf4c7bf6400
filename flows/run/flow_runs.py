"""What Prefect shows of a flow run: its name and tags, its log, its artifacts, and the state it ends in."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from prefect import get_client
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from runtime.clock import SystemClock
from runtime.settings import show_errors_alone
from runtime.source_file import load_source
from schemas.advice import COMMAND_LINE, Door, DoorKind, advise
from schemas.changes import DocumentChange
from schemas.completeness import AddressReason, completeness_lines
from schemas.errors import GuardRefused, SitegraphError, Stopped
from schemas.redaction import one_line
from schemas.report import Problem, RunReport, headline

MAX_ROWS = 500
"""Table artifacts are shown by a browser; longer ones are cut and say so."""


def publish_artifacts(report: RunReport, changes: Sequence[DocumentChange]) -> None:
    """Show the report to whoever watches the flow run."""
    key = artifact_key(report.source)
    create_markdown_artifact(markdown=_markdown(report), key=key, description="What the run did")
    if changes:
        changed = [{"url": c.uri, "change": c.kind.value, "reason": c.reason} for c in changes]
        create_table_artifact(table=_cut(changed), key=f"{key}-changed", description="What changed and why")
    if report.completeness.reasons:
        rows = [
            {"reason": reason, "addresses": number, "what became of them": AddressReason(reason).place.value}
            for reason, number in report.completeness.reasons.items()
        ]
        create_table_artifact(table=rows, key=f"{key}-not-indexed", description="What is not indexed and why")
    show_problems(report.source, report.problems)


def show_problems(source: str, problems: Sequence[Problem]) -> None:
    """Show which documents could not be used; nothing where there is none."""
    if problems:
        rows = [{"url": problem.url, "reason": problem.reason} for problem in problems]
        key = f"{artifact_key(source)}-problems"
        create_table_artifact(table=_cut(rows), key=key, description="What failed and why")


def artifact_key(source: str) -> str:
    """The key under which Prefect keeps the reports of a source: lower-case letters, digits, dashes."""
    return f"sitegraph-{re.sub(r'[^a-z0-9]', '-', source.lower())}"


def _markdown(report: RunReport) -> str:
    documents = "\n".join(f"| {name} | {number} |" for name, number in report.documents.items() if number)
    stages = "\n".join(f"| {name} | {seconds:.1f} |" for name, seconds in report.stages.items())
    complete = "".join(f"{what.title()}: {line}. " for what, line in completeness_lines(report.completeness))
    verdict = f"generation {report.generation}" if report.generation else "nothing changed, no generation"
    chunks, pages = report.chunks, report.pdf_pages
    return (
        f"# {report.source}: {verdict}\n\n"
        f"Chunks: {chunks.added} added, {chunks.removed} removed, {chunks.unchanged} unchanged; "
        f"{chunks.embedded} texts embedded. HTTP: {report.http.requests} requests, "
        f"{report.http.bytes} bytes. Secrets redacted: {report.secrets.values} in "
        f"{report.secrets.documents} documents. Pages of PDFs: {pages.read} read, {pages.recognised} of them "
        f"recognised, {pages.reused} reused. {complete}\n\n"
        f"| documents | |\n|---|---|\n{documents}\n\n| stage | seconds |\n|---|---|\n{stages}\n"
    )


def _cut(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    table = [
        {key: one_line(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows[:MAX_ROWS]
    ]
    if len(rows) > MAX_ROWS:
        first = next(iter(table[0]))
        table.append({**dict.fromkeys(table[0], ""), first: f"… and {len(rows) - MAX_ROWS} more"})
    return table


PACKAGES = ("sitegraph", "runtime", "flows", "ingest", "indexes", "retrieval")


@contextmanager
def forwarded_logs() -> Iterator[None]:
    """Send what our packages log inside the block to the flow run that the caller is in.

    From the level on that Prefect's own records have (`PREFECT_LOGGING_LEVEL`), and from every thread: what
    a task says is the task's, what a thread of ours says is the flow's. Outside a flow run nothing is sent.
    Drivers that write to stderr by themselves tell errors alone from then on.
    """
    show_errors_alone()
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        yield
        return
    _tell_without_traceback()
    handler = _handler(str(context.flow_run.id))
    level = logging.getLogger("prefect.flow_runs").getEffectiveLevel()
    with ExitStack() as stack:
        for name in PACKAGES:
            stack.enter_context(_attached(logging.getLogger(name), handler, level))
        yield


@contextmanager
def _attached(logger: logging.Logger, handler: logging.Handler, level: int) -> Iterator[None]:
    """Add the handler in place of Prefect's own, which loses what is said outside tasks."""
    before, theirs = logger.level, [h for h in logger.handlers if isinstance(h, APILogHandler)]
    for other in theirs:
        logger.removeHandler(other)
    logger.addHandler(handler)
    logger.setLevel(before or level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        for other in theirs:
            logger.addHandler(other)
        logger.setLevel(before)


def _handler(flow_run_id: str) -> logging.Handler:
    handler = APILogHandler()
    handler.setFormatter(_OneLine())
    handler.addFilter(_OfRun(flow_run_id))
    return handler


class _OneLine(logging.Formatter):
    """The message alone, without secrets; Prefect keeps logger, level and time beside it."""

    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record))


class _OfRun(logging.Filter):
    """Takes a record for the flow run unless a task of it, or another run of this process, said it."""

    def __init__(self, flow_run_id: str) -> None:
        super().__init__()
        self._flow_run_id = flow_run_id

    def filter(self, record: logging.LogRecord) -> bool:
        if task := TaskRunContext.get():
            return str(task.task_run.flow_run_id) == self._flow_run_id
        flow = FlowRunContext.get()
        if flow is not None and flow.flow_run is not None:
            return str(flow.flow_run.id) == self._flow_run_id
        record.flow_run_id = self._flow_run_id
        return True


class _OnPurpose(logging.Filter):
    """Has Prefect tell an error that was raised on purpose in one line: no traceback explains it better."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if not isinstance(error, SitegraphError):
            return True
        record.msg, record.args, record.exc_info = one_line(str(error)), (), None
        # The flow itself has told it by then, in its log and as the message of its state.
        return record.name != "prefect.flow_runs"


_ON_PURPOSE = _OnPurpose()


def _tell_without_traceback() -> None:
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(_ON_PURPOSE)


REFUSED, STOPPED, FAILED = "Refused", "Stopped", "Failed"
"""Names of the final states of type FAILED."""

_OF_WHAT = ("source", "index", "graph", "model")
"""Parameters that say what a run is of; the others, how it goes about it."""

_LESS, _MORE = ("due", "dry_run"), ("accept", "repair")
"""Parameters with which a run does less, and more, than without."""

_COVERED = "another run was under way at its time"

E = TypeVar("E", bound=SitegraphError)


def run_name() -> str:
    """Name a flow run by its source, and by what it does other than look at everything."""
    return _flow_run_name(flow_run.parameters)


def _flow_run_name(parameters: Mapping[str, Any]) -> str:
    """Name a run by its parameters: `handbook`, or `handbook (due)`."""
    options = [name for name in ("due", "accept") if parameters.get(name)]
    source = source_name(str(parameters["source"]))
    return f"{source} ({', '.join(options)})" if options else source


def source_name(path: str) -> str:
    """The name in a source file; of a file that is wrong, which the run will say, its own."""
    try:
        return load_source(Path(path)).name
    except SitegraphError:
        return Path(path).stem


def tag_run(*tags: str) -> None:
    """Add tags to the flow run that the caller is in; it keeps those of its deployment."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    with get_client(sync_client=True) as client:
        client.update_flow_run(context.flow_run.id, tags=sorted({*context.flow_run.tags, *tags}))


def end_covered() -> None:
    """End the scheduled runs that wait behind the flow run that the caller is in, however that ends.

    A run that somebody started waits on. Where this fails they run.
    """
    context = FlowRunContext.get()
    run = context.flow_run if context is not None else None
    if run is None or run.deployment_id is None:
        return
    with suppress(Exception), get_client(sync_client=True) as client:
        waiting = client.read_flow_runs(
            flow_run_filter=FlowRunFilter(
                deployment_id=FlowRunFilterDeploymentId(any_=[run.deployment_id]),
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
            ),
            sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        )
        now = SystemClock().now()
        for one in waiting:
            met = one.auto_scheduled and one.expected_start_time and one.expected_start_time <= now
            if met and covers(run.parameters, one.parameters):
                done: State[Any] = Cancelled(message=_COVERED)
                client.set_flow_run_state(one.id, done, force=True)


def covers(ran: Mapping[str, Any], waiting: Mapping[str, Any]) -> bool:
    """Whether a run with some parameters does all that another would: what is due is a part of all."""
    alike = all(ran.get(name) == waiting.get(name) for name in _OF_WHAT)
    less = any(ran.get(name) and not waiting.get(name) for name in _LESS)
    return alike and not less and not any(waiting.get(name) and not ran.get(name) for name in _MORE)


def completed(report: RunReport, record: Mapping[str, Any]) -> State[Any]:
    """The state of a run that came to its end; callers of the flow are given *record*."""
    return Completed(message=headline(report), data=record)


def failed(error: SitegraphError) -> State[Any]:
    """The state of a run that was ended on purpose; callers of the flow are raised *error*."""
    return Failed(name=state_name(error), message=one_line(str(error)), data=error)


def state_name(error: SitegraphError) -> str:
    """Tell what a guard refused, and what somebody stopped, from what went wrong."""
    if isinstance(error, GuardRefused):
        return REFUSED
    return STOPPED if isinstance(error, Stopped) else FAILED


def advised(error: E) -> E:
    """The error with its advice worded for whoever started the flow run that the caller is in."""
    error.message = advise(error.message, COMMAND_LINE.get() or _door())
    return error


def _door() -> Door:
    context = FlowRunContext.get()
    run = context.flow_run if context is not None else None
    given = {key: str(value) for key, value in (run.parameters if run else {}).items() if value is not None}
    index, source = given.get("index"), given.get("source")
    if context is not None and run is not None and run.deployment_id is not None:
        with suppress(Exception), get_client(sync_client=True) as client:  # what went wrong first says more
            own = client.read_deployment(run.deployment_id)
            name = f"{context.flow.name if context.flow else ''}/{own.name}"
            other = {
                key: given[key] for key in _OF_WHAT if key in given and given[key] != own.parameters.get(key)
            }
            return Door(kind=DoorKind.WORKER, index=index, source=source, deployment=name, parameters=other)
    return Door(kind=DoorKind.PYTHON, index=index, source=source)


def show_refusal(source: str, error: SitegraphError) -> None:
    """Say on the run's page why it ended, and that readers have what they had."""
    create_markdown_artifact(
        markdown=f"# {source}: {state_name(error).lower()}\n\n{error.under(source)}\n\n"
        "Readers see the generation that they saw before.\n",
        key=artifact_key(source),
        description="Why the run ended",
    )
