"""What Prefect shows of a flow run: its name, its tags, and the state it ends in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect import get_client
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from flows.run.artifacts import artifact_key
from runtime.source_file import load_source
from schemas.errors import GuardRefused, SitegraphError, Stopped
from schemas.redaction import one_line
from schemas.report import RunReport, headline

REFUSED, STOPPED, FAILED = "Refused", "Stopped", "Failed"
"""Names of the final states of type FAILED."""


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


def show_refusal(source: str, error: SitegraphError) -> None:
    """Say on the run's page why it ended, and that readers have what they had."""
    create_markdown_artifact(
        markdown=f"# {source}: {state_name(error).lower()}\n\n{one_line(str(error))}\n\n"
        "Readers see the generation that they saw before.\n",
        key=artifact_key(source),
        description="Why the run ended",
    )
