"""What Prefect shows of a flow run: its name, its tags, and the state it ends in."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from prefect import get_client
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import FlowRunContext
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from flows.run.artifacts import artifact_key
from runtime.clock import SystemClock
from runtime.source_file import load_source
from schemas.advice import COMMAND_LINE, Door, DoorKind, advise
from schemas.errors import GuardRefused, SitegraphError, Stopped
from schemas.redaction import one_line
from schemas.report import RunReport, headline

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
    return name_of(flow_run.parameters)


def name_of(parameters: Mapping[str, Any]) -> str:
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
