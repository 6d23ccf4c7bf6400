"""What `sitegraph deploy` does: read the source files, ask the server what there is, decide, do it, tell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flows.deploy.alarms import (
    AlarmAction,
    AlarmOptions,
    Automation,
    Notify,
    alarms,
    decide_alarms,
    options_found,
    paused_unwatched,
    too_short,
    unwatched,
    window,
)
from flows.deploy.client import DeployServer, open_server, plain
from flows.deploy.deployments import (
    DESCRIBED,
    NAME_OF_FLOW,
    DeployAction,
    DeploymentAction,
    FoundDeployment,
    RunPlace,
    ScheduleEntry,
    decide,
    describe,
    notes,
    resting,
    unknown_variables,
)
from flows.deploy.files import NamedFiles, read_files
from flows.deploy.maintenance import MAINTAIN, decide_maintenance, name_of
from runtime.source_values import duration
from schemas.errors import ConfigError
from schemas.program import program_version

NOBODY = "none"
"""Said in place of a block: alarms tell nobody any more."""

TELLS_NOBODY = (
    "alarms tell nobody; set --notify, or SITEGRAPH_NOTIFY, to the URL of a webhook, or to TYPE/NAME of a "
    "block of Prefect's"
)
NEVER_MAINTAINED = (
    "nothing maintains the index; say when with --maintain, or SITEGRAPH_MAINTAIN, as in '0 4 * * 0'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployWish:
    """What a person asks of `deploy`. What is None stays as it is on the server, else has its default."""

    named: Sequence[Path]
    folder: Path
    pool: str
    index: str | None = None
    job_variables: Mapping[str, Any] = field(default_factory=dict)
    prune: bool = False
    replace: bool = False
    dry_run: bool = False
    with_alarms: bool = True
    notify: str | None = None
    late_after: float | None = None
    lost_after: float | None = None
    held_after: float | None = None
    maintain: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployPlan:
    """What is to be done, in order, and what a person should know."""

    deployments: tuple[DeploymentAction, ...]
    alarms: tuple[AlarmAction, ...]
    notes: tuple[str, ...]


def deploy(wish: DeployWish) -> dict[str, Any]:
    """Make the deployments and alarms of the source files; say what was done, or with `dry_run` would be.

    Raises: ConfigError: a source file is wrong, another source of its name is deployed, no server is
    configured, a pool or block is not there;
    StoreUnavailable: the server cannot be reached.
    """
    files = read_files(wish.named)
    with open_server() as server:
        plan = _plan(wish, files, server)
        if not wish.dry_run:
            for one in plan.deployments:
                server.apply(one)
            for alarm in plan.alarms:
                server.apply_alarm(alarm)
        return _record(wish, plan, url=server.url)


def _plan(wish: DeployWish, files: NamedFiles, server: DeployServer) -> DeployPlan:
    place = RunPlace(
        folder=wish.folder,
        pool=wish.pool,
        index=wish.index,
        job_variables=wish.job_variables,
        version=program_version(),
    )
    desired = {file.source.name: describe(file, place) for file in files.files}
    found = server.find_deployments()
    actions = decide(
        desired,
        found,
        files=tuple(file.path for file in files.files),
        folders=files.folders,
        prune_in=wish.folder if wish.prune else None,
        replace=wish.replace,
    )
    maintained = server.find_deployments(MAINTAIN)
    kept = decide_maintenance(wish.maintain, place, maintained, replace=wish.replace)
    pools = {**desired, **{one.name: one.settings for one in kept}}
    told = [*_pool_notes(server, pools), *_file_notes(files), *notes(actions, found)]
    if wish.maintain is None and not any(one.name == name_of(place) for one in maintained):
        told.append(NEVER_MAINTAINED)
    return DeployPlan(
        deployments=(*actions, *kept),
        alarms=_plan_alarms(wish, files, server, actions, found, told) if wish.with_alarms else (),
        notes=tuple(told),
    )


def _plan_alarms(
    wish: DeployWish,
    files: NamedFiles,
    server: DeployServer,
    actions: Sequence[DeploymentAction],
    found: Sequence[FoundDeployment],
    told: list[str],
) -> tuple[AlarmAction, ...]:
    there = server.find_automations()
    options = _options(wish, server, options_found(there))
    paused = {one.name for one in found if one.paused and not one.is_removed}
    watched = [file.source for file in files.files if file.source.name not in paused]
    desired: dict[str, Automation] = {
        one["name"]: plain(one) for one in alarms(watched, options, index=wish.index)
    }
    if options.notify is None:
        told.append(TELLS_NOBODY)
    told.extend(filter(None, map(unwatched, watched)))
    told.extend(paused_unwatched(paused, there, {file.source.name for file in files.files}))
    gone = resting(actions, found)
    gone |= {file.source.name for file in files.files if window(file.source) is None}
    return decide_alarms(desired, there, gone=gone)


def _options(wish: DeployWish, server: DeployServer, found: AlarmOptions) -> AlarmOptions:
    times = {key: getattr(wish, key) for key in ("late_after", "lost_after", "held_after")}
    options = replace(found, **{key: value for key, value in times.items() if value is not None})
    if wish.notify is None:
        return options
    return replace(options, notify=_notify(wish.notify, server, dry_run=wish.dry_run))


def _notify(whom: str, server: DeployServer, *, dry_run: bool) -> Notify | None:
    if whom == NOBODY:
        return None
    if whom.startswith(("http://", "https://")):
        return server.notify_url(whom, dry_run=dry_run)
    return server.find_block(whom)


def _pool_notes(server: DeployServer, desired: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for pool in sorted({settings["pool"] for settings in desired.values()}):
        refusal, note = server.pool_refusal(pool)
        if refusal is not None:
            raise ConfigError(f"{refusal}, or name another with --pool", subject=f"work pool {pool}")
        if note is not None:
            yield note
    varied = {name: settings for name, settings in desired.items() if settings["job_variables"]}
    known = {pool: server.job_variables(pool) for pool in {settings["pool"] for settings in varied.values()}}
    for pool, refusal in unknown_variables(varied, known):
        raise ConfigError(refusal, subject=f"work pool {pool}")


def _file_notes(files: NamedFiles) -> Iterator[str]:
    for path in files.passed_over:
        yield f"{path} has no key kind, so it is no source file, and is passed over"
    for file in files.files:
        if not file.source.schedule:
            yield f"{file.source.name} has no schedule: it runs when somebody asks Prefect to"
        if note := too_short(file.source):
            yield note


def _record(wish: DeployWish, plan: DeployPlan, *, url: str) -> dict[str, Any]:
    return {
        "server": url,
        "dry_run": wish.dry_run,
        "deployments": [_deployment_record(one) for one in plan.deployments],
        "alarms": [
            {"name": one.name, "action": one.action.value, "within": _within(one.automation)}
            for one in plan.alarms
        ],
        "notes": list(plan.notes),
    }


def _deployment_record(one: DeploymentAction) -> dict[str, Any]:
    settings = {key: _shown(one.settings[key]) for key in DESCRIBED}
    changes = {key: [_shown(before), _shown(after)] for key, (before, after) in one.changes.items()}
    return {
        "name": f"{NAME_OF_FLOW[one.settings['entrypoint']]}/{one.name}",
        "action": one.action.value,
        "changes": changes if one.action is not DeployAction.CREATE else {},
        **settings,
    }


def _shown(value: Any) -> Any:
    if isinstance(value, tuple):
        return [one.text if isinstance(one, ScheduleEntry) else one for one in value]
    return value


def _within(automation: Automation | None) -> str | None:
    """How long until the alarm is raised; None where it is at once."""
    seconds = (automation or {}).get("trigger", {}).get("within")
    return duration(seconds) if seconds else None
