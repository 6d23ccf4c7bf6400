"""The flow `maintain`: each step of maintenance (flows/maintain/steps.py) a Prefect task."""

import logging
from collections.abc import Callable
from typing import Any, cast

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows.maintain.steps import maintain_index
from flows.run.flow_runs import advised, end_covered, failed, forwarded_logs
from runtime.settings import read_settings
from schemas.errors import SitegraphError

_log = logging.getLogger(__name__)
ARTIFACT = "sitegraph-maintenance"


@flow(name="maintain")
def maintain(index: str | None = None, dry_run: bool = False, quiet: bool = False) -> dict[str, Any]:
    """Maintain an index and give the report.

    Args: index: index folder (default: the settings'); dry_run: look, and do nothing; quiet: no progress on
    stderr. Ends as Failed where the sample has damage.
    """
    with forwarded_logs():
        try:
            record = maintain_index(read_settings(index), dry_run=dry_run, quiet=quiet, engine=_as_task)
        except SitegraphError as raised:
            error = advised(raised)
            _log.error("%s", error)
            end_covered()
            return cast("dict[str, Any]", failed(error))
        end_covered()
    create_markdown_artifact(markdown=_markdown(record), key=ARTIFACT, description="What maintenance did")
    damage = record["sample"]["damage"]
    state: State[Any] = (
        Failed(message=f"{len(damage)} faults in the sample", data=record)
        if damage
        else Completed(data=record)
    )
    return cast("dict[str, Any]", state)


def _as_task(name: str, step: Callable[[], None]) -> None:
    task(name=name, task_run_name=name)(step)()


def _markdown(record: dict[str, Any]) -> str:
    rows = "\n".join(
        f"| {name} | {before['files']} > {after['files']} | {before['segments']} > {after['segments']} "
        f"| {before['deleted']} > {after['deleted']} |"
        for name, before in record["before"]["tables"].items()
        for after in [record["after"]["tables"].get(name, before)]
    )
    notes = "\n".join(f"- {line}" for line in (*record["due"], *record["skipped"]))
    damage = "\n".join(f"- {subject}: {what}" for subject, what in record["sample"]["damage"])
    return (
        f"# Maintenance at generation {record['generation']}\n\n{notes}\n\n"
        f"| table | files | segments | deleted rows |\n|---|---|---|---|\n{rows}\n\n"
        f"{record['swept']} files deleted. Sample: {record['sample']['files']} files, "
        f"{record['sample']['documents']} documents.\n{damage}\n"
    )
