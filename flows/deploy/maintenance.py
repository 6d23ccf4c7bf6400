"""The deployment of an index's maintenance: one an index, of a flow of its own; no server in sight."""

from collections.abc import Iterable
from pathlib import PurePath

from flows.deploy.deployments import (
    NAME_OF_FLOW,
    OVERLAP,
    TAG,
    DeploymentAction,
    FoundDeployment,
    RunPlace,
    ScheduleEntry,
    Settings,
    compare,
    pause,
    schedule_slug,
)
from runtime.schedule_times import cron_refusal
from schemas.errors import ConfigError
from schemas.source import Schedule

ENTRYPOINT = "flows.maintain.flow.maintain"
MAINTAIN = NAME_OF_FLOW[ENTRYPOINT]
NEVER = "none"
"""Said in place of a time: maintenance that is deployed is paused."""
_DEFAULT = "index"


def decide_maintenance(
    when: str | None, place: RunPlace, found: Iterable[FoundDeployment], *, replace: bool = False
) -> tuple[DeploymentAction, ...]:
    """Say what to do about the maintenance of *place*'s index; nothing where *when* is None.

    Raises: ConfigError: *when* is not a cron expression, or maintenance of another index has the name, which
    is taken only with *replace*.
    """
    if when is None:
        return ()
    name = name_of(place)
    there = next((one for one in found if one.name == name), None)
    if there is not None and there.settings["index"] != place.index and not replace:
        raise ConfigError(
            f"is already deployed for index {there.settings['index']}; replace it with --replace",
            subject=f"{MAINTAIN}/{name}",
        )
    if when == NEVER:
        return (pause(there),) if there is not None and not there.is_removed else ()
    return (compare(name, describe_maintenance(when, place), there),)


def name_of(place: RunPlace) -> str:
    """Name the maintenance of an index by the last part of its folder."""
    return PurePath(place.index).name if place.index else _DEFAULT


def describe_maintenance(when: str, place: RunPlace) -> Settings:
    """Say what the deployment should be; times are in UTC.

    Raises: ConfigError: *when* is not a cron expression.
    """
    if refusal := cron_refusal(when):
        raise ConfigError(
            f"{when!r} is not a cron expression ({refusal}), such as '0 4 * * 0'", subject="--maintain"
        )
    schedule = Schedule(cron=when)
    return {
        "source": "",
        "index": place.index,
        "schedules": (ScheduleEntry(slug=schedule_slug(schedule), schedule=schedule),),
        "pool": place.pool,
        "queue": "default",
        "job_variables": dict(place.job_variables),
        "tags": (TAG,),
        "folder": str(place.folder),
        "entrypoint": ENTRYPOINT,
        "overlap": OVERLAP,
        "version": place.version,
    }
