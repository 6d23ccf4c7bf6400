"""Which deployments there should be, and what to do about those that there are; no server in sight."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

from runtime.schedules import cron_refusal, duration, moved, share
from schemas.errors import ConfigError
from schemas.source import Schedule, Source

FLOW = "index-source"
ENTRYPOINT = "flows.recrawl.index_source"
NAME_OF_FLOW = {ENTRYPOINT: FLOW, "flows.maintain.flow.maintain": "maintain"}
"""By the entrypoint of a deployment."""
TAG = "sitegraph"
REMOVED = "sitegraph:removed"
"""On a deployment that was paused because its source file went: one that a person paused has no such tag."""

OVERLAP = "ENQUEUE"
"""A run that a person starts waits for its turn; what schedules start meanwhile, the run under way ends."""

PULL_STEP = "prefect.deployments.steps.set_working_directory"

Settings = Mapping[str, Any]
"""What a deployment is, by name; equal settings are equal deployments."""


class DeployAction(StrEnum):
    """What `deploy` does about a deployment, or an alarm."""

    CREATE = "create"
    UPDATE = "update"
    UNCHANGED = "unchanged"
    PAUSE = "pause"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """Where deployments run: the working folder, the index (None: as the worker's settings say), the pool.

    `job_variables` go to the pool with each run; what a source file says of the same name counts more.
    """

    folder: Path
    pool: str
    index: str | None = None
    job_variables: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDeployment:
    """A deployment of our flow that the server has."""

    id: str
    name: str
    settings: Settings
    paused: bool = False

    @property
    def path(self) -> Path:
        """The source file that it runs."""
        return Path(self.settings["folder"], self.settings["source"])

    @property
    def is_ours(self) -> bool:
        """Whether `sitegraph deploy` made it."""
        return TAG in self.settings["tags"]

    @property
    def is_removed(self) -> bool:
        """Whether it was paused because its source file went."""
        return REMOVED in self.settings["tags"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentAction:
    """What to do about one deployment; `changes` are pairs of before and after by setting."""

    action: DeployAction
    name: str
    settings: Settings
    found: FoundDeployment | None = None
    changes: Mapping[str, tuple[Any, Any]]
    resume: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleEntry:
    """A schedule as it fires, under the slug that Prefect keeps it by.

    `start`: from when an interval is counted. `written`: as the source file has it, before its jitter moved
    it; of a schedule that a server has, it is not known.
    """

    slug: str
    schedule: Schedule
    start: datetime | None = None
    written: Schedule | None = None

    @property
    def text(self) -> str:
        """What a person reads."""
        fires = schedule_text(self.schedule)
        if self.written is None or self.written == self.schedule:
            return fires
        return f"{fires}, moved from {self.written.cron or self.written.rrule}"

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells two apart. Of a rule the slug does: Prefect words the rule itself anew."""
        schedule = self.schedule
        when = None if schedule.rrule else (schedule.cron, schedule.every, schedule.timezone, self.start)
        return (self.slug, schedule.active, schedule.due, when)


def describe_deployment(source: Source, path: Path, place: RunPlace) -> Settings:
    """Say what the deployment of a source, read from the file *path*, should be."""
    options, inside = source.deployment, path.is_relative_to(place.folder)
    return {
        **_settings(place, ENTRYPOINT, schedule_entries(source)),
        "source": path.relative_to(place.folder).as_posix() if inside else str(path),
        "pool": options.pool or place.pool,
        "queue": options.queue or "default",
        "job_variables": merge_variables(place.job_variables, json.loads(options.job_variables or "{}")),
        "tags": tuple(sorted({TAG, *options.tags})),
    }


def _settings(place: RunPlace, entrypoint: str, schedules: tuple["ScheduleEntry", ...]) -> Settings:
    return {
        "source": "",
        "index": place.index,
        "schedules": schedules,
        "pool": place.pool,
        "queue": "default",
        "job_variables": dict(place.job_variables),
        "tags": (TAG,),
        "folder": str(place.folder),
        "entrypoint": entrypoint,
        "overlap": OVERLAP,
        "version": place.version,
    }


def merge_variables(given: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return both; of one name the second, but of mappings (such as `env`) every key."""
    both = {**given, **own}
    for name in given.keys() & own.keys():
        if isinstance(given[name], Mapping) and isinstance(own[name], Mapping):
            both[name] = {**given[name], **own[name]}
    return both


def unknown_variables(
    desired: Mapping[str, Settings], known: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, str]]:
    """Say which job variables a pool does not know, with the pool; *known* are those of each pool."""
    for name, settings in sorted(desired.items()):
        pool = settings["pool"]
        for variable in sorted(settings["job_variables"]):
            if variable.partition(".")[0] in known[pool]:  # Prefect reads env.NAME as a key of env
                continue
            has = ", ".join(sorted(known[pool])) or "none"
            yield pool, f"has no job variable {variable}, which {name} sets; it has: {has}"


def schedule_entries(source: Source) -> tuple[ScheduleEntry, ...]:
    """A source's schedules, ordered by slug."""
    found = {
        ScheduleEntry(
            slug=schedule_slug(schedule),
            schedule=moved(schedule, source.name),
            start=anchor(schedule.every, source.name, jitter=schedule.jitter) if schedule.every else None,
            written=schedule,
        )
        for schedule in source.schedule
    }
    return tuple(sorted(found, key=lambda entry: entry.slug))


def schedule_slug(schedule: Schedule) -> str:
    """Name a schedule for Prefect, the same each time."""
    text = schedule_text(schedule)
    return f"{text.partition(' ')[0]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def schedule_text(schedule: Schedule) -> str:
    """A schedule on one line: its kind, when, its time zone, its jitter."""
    parts = ["cron", schedule.cron] if schedule.cron else ["rrule", schedule.rrule]
    if schedule.every:
        parts = ["every", f"{schedule.every:g}s"]
    marks = [mark for mark, given in (("due", schedule.due), ("off", not schedule.active)) if given]
    if schedule.jitter is not None:
        marks.append(f"jitter {duration(schedule.jitter)}")
    return " ".join(filter(None, [*parts, schedule.timezone, *(f"({mark})" for mark in marks)]))


def anchor(every: float, name: str, *, jitter: float | None = None) -> datetime:
    """From when an interval is counted: one and the same day for all, and a part of the interval by name.

    So deploying again moves nothing, and sources with one interval do not all begin in the same second.
    With *jitter* the part is at most so many seconds.
    """
    seconds = int(every) if jitter is None else int(jitter) + 1
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=share(name, seconds))


def decide_deployments(
    desired: Mapping[str, Settings],
    found: Iterable[FoundDeployment],
    *,
    files: Collection[Path] = (),
    folders: Collection[Path] = (),
    prune_in: Path | None = None,
    replace: bool = False,
) -> tuple[DeploymentAction, ...]:
    """Say what makes the deployments that were found those that are desired, ordered by name.

    What deploys a file that is gone from *folders*, or another name of one of *files*, is paused; so is
    whatever else runs in the folder *prune_in* and is not desired. Nothing that others made is touched.

    Raises: ConfigError: a name is that of a deployment of another file or for another index, which goes on
    only with *replace*.
    """
    by_name = {one.name: one for one in found}
    for name, settings in desired.items():
        if (there := by_name.get(name)) is not None and not replace:
            moved = _is_gone(there, files=files, folders=folders, prune_in=prune_in)
            _check_same(settings, there, moved=moved)
    wanted = [_compare_deployment(name, settings, by_name.get(name)) for name, settings in desired.items()]
    left = [one for one in by_name.values() if one.is_ours and one.name not in desired and not one.is_removed]
    gone = [pause(one) for one in left if _is_gone(one, files=files, folders=folders, prune_in=prune_in)]
    return tuple(sorted([*wanted, *gone], key=lambda one: one.name))


def _check_same(settings: Settings, there: FoundDeployment, *, moved: bool) -> None:
    """Refuse to take over what runs another source of the same name; *moved*: its file is one of ours."""
    before, path = there.settings["index"], Path(settings["folder"], settings["source"])
    if there.is_removed and there.path != path:  # the name is free; the same file is back under its own
        return
    what = f"from {there.path}" if there.path != path and not moved else None
    if before != settings["index"]:
        what = f"for index {before}" if before else "for the index of the worker's SITEGRAPH_INDEX"
    if what is not None:
        raise ConfigError(
            f"is already deployed {what}; give the source another name, or replace it with --replace",
            subject=f"{FLOW}/{there.name}",
        )


def _compare_deployment(name: str, settings: Settings, found: FoundDeployment | None) -> DeploymentAction:
    """Say what makes the deployment that was found, if any, the one that is described."""
    if found is None:
        made = {key: (None, value) for key, value in settings.items()}
        return DeploymentAction(action=DeployAction.CREATE, name=name, settings=settings, changes=made)
    before = found.settings
    changes = {key: (before[key], settings[key]) for key in settings if _differs(before[key], settings[key])}
    if resume := found.paused and found.is_removed:
        changes["paused"] = (True, False)
    action = DeployAction.UPDATE if changes else DeployAction.UNCHANGED
    return DeploymentAction(
        action=action, name=name, settings=settings, found=found, changes=changes, resume=resume
    )


def _differs(*values: Any) -> bool:
    before, after = (
        tuple(getattr(one, "key", one) for one in value) if isinstance(value, tuple) else value
        for value in values
    )
    return bool(before != after)


def pause(found: FoundDeployment) -> DeploymentAction:
    """Pause a deployment, as one that is not wanted any more."""
    tags = tuple(sorted({*found.settings["tags"], REMOVED}))
    settings = {**found.settings, "tags": tags}
    return DeploymentAction(
        action=DeployAction.PAUSE,
        name=found.name,
        settings=settings,
        found=found,
        changes={"paused": (False, True)},
    )


def _is_gone(
    found: FoundDeployment, *, files: Collection[Path], folders: Collection[Path], prune_in: Path | None
) -> bool:
    path = found.path
    here = prune_in is not None and found.settings["folder"] == str(prune_in)
    return path in files or path.parent in folders or here


def resting(actions: Sequence[DeploymentAction], found: Sequence[FoundDeployment]) -> set[str]:
    """Sources of which no run is to be expected: paused by this call, by one before, or by a person.

    What is there counts, not this call alone: an earlier one may have paused and gone no further.
    """
    now = {one.name for one in actions if one.action is DeployAction.PAUSE}
    return now | {one.name for one in found if one.is_ours and one.paused}


def notes(actions: Sequence[DeploymentAction], found: Iterable[FoundDeployment]) -> Iterator[str]:
    """What a person should know of deployments that are left as they are."""
    for one in actions:
        rests = one.found is not None and one.found.paused and not one.resume
        if rests and one.action is not DeployAction.PAUSE:
            yield f"{FLOW}/{one.name} was paused by hand, and stays so until it is resumed in Prefect"
    for other in sorted((one.name for one in found if not one.is_ours), key=str):
        if other not in {one.name for one in actions}:
            yield (
                f"{FLOW}/{other} was not made by sitegraph deploy and stays; if it is of an older "
                f"prefect.yaml, remove it: prefect deployment delete {FLOW}/{other}"
            )


MAINTAIN_ENTRYPOINT = "flows.maintain.flow.maintain"
MAINTAIN = NAME_OF_FLOW[MAINTAIN_ENTRYPOINT]
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
    name = maintenance_name(place)
    there = next((one for one in found if one.name == name), None)
    if there is not None and there.settings["index"] != place.index and not replace:
        raise ConfigError(
            f"is already deployed for index {there.settings['index']}; replace it with --replace",
            subject=f"{MAINTAIN}/{name}",
        )
    if when == NEVER:
        return (pause(there),) if there is not None and not there.is_removed else ()
    return (_compare_deployment(name, describe_maintenance(when, place), there),)


def maintenance_name(place: RunPlace) -> str:
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
    entry = ScheduleEntry(slug=schedule_slug(schedule), schedule=schedule)
    return _settings(place, MAINTAIN_ENTRYPOINT, (entry,))
