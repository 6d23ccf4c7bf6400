"""Prefect's client, as `deploy` uses it: what the server has, read as plain data, and what is done to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any
from uuid import UUID

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate, DeploymentUpdate
from prefect.client.schemas.filters import FlowFilter, FlowFilterName
from prefect.client.schemas.objects import ConcurrencyLimitStrategy, ConcurrencyOptions, DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule, RRuleSchedule
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL
from prefect.types import SecretDict
from prefect.utilities.callables import parameter_schema
from pydantic import SecretStr

from flows.deploy.alarms import PREFIX, AlarmAction, Automation, Notify
from flows.deploy.deployments import (
    FLOW,
    NAME_OF_FLOW,
    PULL_STEP,
    DeployAction,
    DeploymentAction,
    FoundDeployment,
    ScheduleEntry,
    Settings,
)
from schemas.errors import ConfigError, StoreUnavailable, plain_reason
from schemas.ids import sha256_hex
from schemas.source import Schedule

PAGE = 200
"""Most objects that Prefect's API gives at once."""


@contextmanager
def open_server() -> Iterator["DeployServer"]:
    """Talk to the configured server.

    Raises: ConfigError: none is configured; StoreUnavailable: it cannot be reached.
    """
    url = PREFECT_API_URL.value()
    if not url:
        raise ConfigError(
            "is not set, and only a running server keeps schedules; start one with: prefect server start, "
            "then set it to http://HOST:4200/api",
            subject="PREFECT_API_URL",
        )
    with get_client(sync_client=True) as client:
        if (error := client.api_healthcheck()) is not None:
            raise StoreUnavailable(
                f"cannot be reached ({plain_reason(str(error)) or type(error).__name__}); start it with: "
                "prefect server start, or correct PREFECT_API_URL",
                subject=f"Prefect server {url}",
            )
        yield DeployServer(client, url)


class DeployServer:
    """What `deploy` asks of a Prefect server."""

    def __init__(self, client: SyncPrefectClient, url: str) -> None:
        self._client = client
        self.url = url

    def find_deployments(self, flow: str = FLOW) -> tuple[FoundDeployment, ...]:
        """Every deployment of a flow of ours, whoever made it."""
        wanted = FlowFilter(name=FlowFilterName(any_=[flow]))
        read = partial(self._client.read_deployments, flow_filter=wanted)
        return tuple(map(_found, _all_pages(read)))

    def find_automations(self) -> Mapping[str, tuple[str, Automation]]:
        """The automations that have names of ours: id and content by name."""
        found = _all_pages(self._client.read_automations)
        return {
            one.name: (str(one.id), plain_automation(one)) for one in found if one.name.startswith(PREFIX)
        }

    def find_pool(self, pool: str) -> tuple[str | None, tuple[str, ...]]:
        """Say what a person should know of a work pool, and name the job variables that it knows.

        Raises: ConfigError: it is not there.
        """
        try:
            found = self._client.read_work_pool(pool)
        except ObjectNotFound as error:
            raise ConfigError(
                f"is not there; make it with: prefect work-pool create {pool} --type process, or name "
                "another with --pool",
                subject=f"work pool {pool}",
            ) from error
        note = None
        if found.is_paused:
            note = f"work pool {pool} is paused: runs wait until prefect work-pool resume {pool}"
        elif found.status is not None and found.status.value != "READY":
            note = f"no worker polls work pool {pool}; start one: prefect worker start --pool {pool}"
        variables = found.base_job_template.get("variables", {}).get("properties", {})
        return note, tuple(variables)

    def notify_url(self, url: str, *, dry_run: bool) -> Notify:
        """A block of ours that carries messages to a URL; with *dry_run* the one that is there, if any."""
        name = _block_name(url)
        if not dry_run:
            return Notify(block_id=str(_webhook(url).save(name, overwrite=True)), webhook=True)
        return Notify(block_id=self._find_block("webhook", name) or str(UUID(int=0)), webhook=True)

    def find_block(self, slug: str) -> Notify:
        """The block `TYPE/NAME`.

        Raises: ConfigError: it is not there.
        """
        kind, _, name = slug.partition("/")
        block = self._find_block(kind, name)
        if block is None or not name:
            raise ConfigError(
                f"there is no block {slug!r}; give it as TYPE/NAME, such as slack-webhook/ops; "
                "prefect block ls shows them; or give the URL of a webhook",
                subject="--notify",
            )
        return Notify(block_id=block, webhook=kind == "webhook")

    def _find_block(self, kind: str, name: str) -> str | None:
        try:
            return str(self._client.read_block_document_by_name(name, kind, include_secrets=False).id)
        except ObjectNotFound:
            return None

    def apply(self, action: DeploymentAction) -> None:
        """Make, change or pause a deployment."""
        if action.action is DeployAction.PAUSE and action.found is not None:
            update = DeploymentUpdate(paused=True, tags=list(action.settings["tags"]))
            self._client.update_deployment(UUID(action.found.id), update)
        elif action.action in (DeployAction.CREATE, DeployAction.UPDATE):
            self._write(action)

    def _write(self, action: DeploymentAction) -> None:
        """One call makes or replaces all of a deployment, schedules and runs that lie ahead included."""
        settings = action.settings
        parameters = {"source": settings["source"] or None, "index": settings["index"]}
        self._client.create_deployment(
            flow_id=self._client.create_flow_from_name(NAME_OF_FLOW[settings["entrypoint"]]),
            name=action.name,
            version=settings["version"],
            description=f"Made by sitegraph deploy from {settings['source'] or '--maintain'}.",
            parameters={name: value for name, value in parameters.items() if value is not None},
            schedules=[_schedule(entry) for entry in settings["schedules"]],
            tags=list(settings["tags"]),
            work_pool_name=settings["pool"],
            work_queue_name=settings["queue"],
            job_variables=dict(settings["job_variables"]),
            entrypoint=settings["entrypoint"],
            pull_steps=[{PULL_STEP: {"directory": settings["folder"]}}],
            concurrency_limit=1,
            concurrency_options=ConcurrencyOptions(
                collision_strategy=ConcurrencyLimitStrategy(settings["overlap"])
            ),
            parameter_openapi_schema=parameter_schema(_flow_of(settings["entrypoint"])).model_dump(
                mode="json"
            ),
            enforce_parameter_schema=True,
            paused=False if action.resume else None,
        )

    def apply_alarm(self, action: AlarmAction) -> None:
        """Make, change or delete an automation; one that was switched off by hand stays off."""
        if action.action is DeployAction.DELETE and action.id is not None:
            self._client.delete_automation(UUID(action.id))
        elif action.action is DeployAction.CREATE:
            self._client.create_automation(AutomationCore.model_validate(action.automation))
        elif action.action is DeployAction.UPDATE and action.id is not None:
            found = self._client.read_automation(UUID(action.id))
            enabled = found is None or found.enabled
            core = AutomationCore.model_validate({**(action.automation or {}), "enabled": enabled})
            self._client.update_automation(UUID(action.id), core)


def _all_pages(read: Callable[..., Sequence[Any]]) -> list[Any]:
    found: list[Any] = []
    while page := read(limit=PAGE, offset=len(found)):
        found += page
    return found


def _block_name(url: str) -> str:
    """Name a block of type Webhook by its URL: alarms of another index may go elsewhere."""
    return f"sitegraph-alarms-{sha256_hex(url)[:8]}"


def _webhook(url: str) -> Webhook:
    return Webhook(url=SecretStr(url), headers=SecretDict({"Content-Type": "application/json"}))


def _flow_of(entrypoint: str) -> Any:
    module, _, name = entrypoint.rpartition(".")
    return getattr(import_module(module), name)


def plain_automation(automation: Any) -> Automation:
    """An automation as plain data that can be compared: without ids, and whatever has no order in one."""
    given = automation if isinstance(automation, dict) else automation.model_dump()
    record = AutomationCore.model_validate(given).model_dump(
        mode="json", include={"name", "description", "trigger", "actions"}
    )
    return {name: _ordered(value) for name, value in record.items()}


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(inner) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        texts = all(isinstance(inner, str) for inner in value)
        return sorted(value) if texts else [_ordered(inner) for inner in value]
    return value


def _found(one: DeploymentResponse) -> FoundDeployment:
    limit, options = one.global_concurrency_limit, one.concurrency_options
    settings: Settings = {
        "source": str(one.parameters.get("source", "")),
        "index": one.parameters.get("index"),
        "schedules": tuple(
            sorted((_entry(schedule) for schedule in one.schedules), key=lambda entry: entry.slug)
        ),
        "pool": one.work_pool_name,
        "queue": one.work_queue_name,
        "job_variables": dict(one.job_variables or {}),
        "tags": tuple(sorted(one.tags)),
        "folder": _folder(one.pull_steps or ()),
        "entrypoint": one.entrypoint,
        "overlap": options.collision_strategy.value if options and limit and limit.limit == 1 else None,
        "version": one.version,
    }
    return FoundDeployment(id=str(one.id), name=one.name, settings=settings, paused=one.paused)


def _folder(steps: Sequence[Mapping[str, Any]]) -> str:
    return next((step[PULL_STEP]["directory"] for step in steps if PULL_STEP in step), "")


def _entry(found: DeploymentSchedule) -> ScheduleEntry:
    schedule, due = found.schedule, bool((found.parameters or {}).get("due", False))
    every = schedule.interval.total_seconds() if isinstance(schedule, IntervalSchedule) else None
    return ScheduleEntry(
        slug=found.slug or "",
        schedule=Schedule(
            cron=schedule.cron if isinstance(schedule, CronSchedule) else None,
            every=every,
            rrule=schedule.rrule if isinstance(schedule, RRuleSchedule) else None,
            timezone=getattr(schedule, "timezone", None) or "UTC",
            due=due,
            active=found.active,
        ),
        start=schedule.anchor_date if isinstance(schedule, IntervalSchedule) else None,
    )


def _schedule(entry: ScheduleEntry) -> DeploymentScheduleCreate:
    wanted, zone = entry.schedule, entry.schedule.timezone
    schedule: CronSchedule | RRuleSchedule | IntervalSchedule
    if wanted.cron is not None:
        schedule = CronSchedule(cron=wanted.cron, timezone=zone)
    elif wanted.rrule is not None:
        schedule = RRuleSchedule(rrule=wanted.rrule, timezone=zone)
    else:
        interval = timedelta(seconds=wanted.every or 0)
        schedule = IntervalSchedule(interval=interval, anchor_date=entry.start, timezone=zone)
    parameters = {"due": True} if wanted.due else {}
    return DeploymentScheduleCreate(
        schedule=schedule, active=wanted.active, slug=entry.slug, parameters=parameters
    )
