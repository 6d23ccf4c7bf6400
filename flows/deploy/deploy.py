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
from flows.deploy.client import DeployServer, open_server, plain_automation
from flows.deploy.deployments import (
    MAINTAIN,
    NAME_OF_FLOW,
    DeployAction,
    DeploymentAction,
    FoundDeployment,
    RunPlace,
    ScheduleEntry,
    Settings,
    decide_deployments,
    decide_maintenance,
    describe_deployment,
    maintenance_name,
    notes,
    resting,
    unknown_variables,
)
from runtime.schedules import duration
from runtime.settings import naming_file
from runtime.source_file import load_source, values_in
from schemas.errors import ConfigError
from schemas.source import Source

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFiles:
    """What was found: sources by absolute path, the folders that were named, and what in them is none."""

    files: Mapping[Path, Source]
    folders: tuple[Path, ...] = ()
    passed_over: tuple[Path, ...] = ()


def read_files(named: Sequence[Path]) -> NamedFiles:
    """Read every source file that is named, or lies in a folder that is (not in folders below it).

    In a folder, YAML without the key `kind` is no source file and passed over. Raises: ConfigError: a source
    file is wrong or missing, two have one name, or there is none.
    """
    folders = tuple(dict.fromkeys(path.resolve() for path in named if path.is_dir()))
    inside = [path for folder in folders for path in _yaml_in(folder)]
    others = tuple(path for path in inside if not _is_source(path))
    # A link keeps its name, as in a folder: Kubernetes mounts files as links into a folder that changes.
    paths = [path.parent.resolve() / path.name for path in named if not path.is_dir()]
    paths += [path for path in inside if path not in others]
    files = {path: load_source(path) for path in paths}
    _check_names(files)
    if not files and not folders:
        raise ConfigError("no source file is named", subject="deploy")
    return NamedFiles(files=files, folders=folders, passed_over=others)


def _yaml_in(folder: Path) -> list[Path]:
    with naming_file(folder, "cannot be read"):
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())


def _is_source(path: Path) -> bool:
    """Whether a file is meant as a source file; one that cannot be read is, so that its error is told."""
    values = values_in(path)
    return values is None or (isinstance(values, dict) and "kind" in values)


def _check_names(files: Mapping[Path, Source]) -> None:
    seen: dict[str, Path] = {}
    for path, source in files.items():
        if (other := seen.setdefault(source.name, path)) != path:
            raise ConfigError(
                f"has the name {source.name} of {other}; each source needs its own", subject=str(path)
            )


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
    """What a person asks of `deploy`. What is None stays as it is on the server, else has its default.

    `times` are those of `AlarmOptions` that are set.
    """

    named: Sequence[Path]
    place: RunPlace
    prune: bool = False
    replace: bool = False
    dry_run: bool = False
    with_alarms: bool = True
    notify: str | None = None
    times: Mapping[str, Any] = field(default_factory=dict)
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
    place = wish.place
    desired = {source.name: describe_deployment(source, path, place) for path, source in files.files.items()}
    found = server.find_deployments()
    actions = decide_deployments(
        desired,
        found,
        files=files.files,
        folders=files.folders,
        prune_in=place.folder if wish.prune else None,
        replace=wish.replace,
    )
    maintained = server.find_deployments(MAINTAIN)
    kept = decide_maintenance(wish.maintain, place, maintained, replace=wish.replace)
    pools = {**desired, **{one.name: one.settings for one in kept}}
    told = [*_pool_notes(server, pools), *_file_notes(files), *notes(actions, found)]
    if wish.maintain is None and not any(one.name == maintenance_name(place) for one in maintained):
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
    sources = files.files.values()
    watched = [source for source in sources if source.name not in paused]
    desired: dict[str, Automation] = {
        one["name"]: plain_automation(one) for one in alarms(watched, options, index=wish.place.index)
    }
    if options.notify is None:
        told.append(TELLS_NOBODY)
    told.extend(filter(None, map(unwatched, watched)))
    told.extend(paused_unwatched(paused, there, {source.name for source in sources}))
    gone = resting(actions, found) | {source.name for source in sources if window(source) is None}
    return decide_alarms(desired, there, gone=gone)


def _options(wish: DeployWish, server: DeployServer, found: AlarmOptions) -> AlarmOptions:
    options = replace(found, **wish.times)
    if wish.notify is None:
        return options
    return replace(options, notify=_notify(wish.notify, server, dry_run=wish.dry_run))


def _notify(whom: str, server: DeployServer, *, dry_run: bool) -> Notify | None:
    if whom == NOBODY:
        return None
    if whom.startswith(("http://", "https://")):
        return server.notify_url(whom, dry_run=dry_run)
    return server.find_block(whom)


def _pool_notes(server: DeployServer, desired: Mapping[str, Settings]) -> Iterator[str]:
    pools = {name: server.find_pool(name) for name in sorted({one["pool"] for one in desired.values()})}
    yield from filter(None, (note for note, _ in pools.values()))
    known = {name: variables for name, (_, variables) in pools.items()}
    for pool, refusal in unknown_variables(desired, known):
        raise ConfigError(refusal, subject=f"work pool {pool}")


def _file_notes(files: NamedFiles) -> Iterator[str]:
    for path in files.passed_over:
        yield f"{path} has no key kind, so it is no source file, and is passed over"
    for source in files.files.values():
        if not source.schedule:
            yield f"{source.name} has no schedule: it runs when somebody asks Prefect to"
        if note := too_short(source):
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
    settings = {key: _shown(value) for key, value in one.settings.items()}
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
