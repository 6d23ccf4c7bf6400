"""Keys of a source file that say when it runs and where: `schedule`, `freshness`, `deployment`."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_serializer,
    field_validator,
    model_validator,
)

from runtime.jitter import jitter_refusal
from runtime.recurrence_rules import rrule_refusal
from runtime.schedule_times import cron_refusal, fires
from runtime.source_values import Count, Seconds
from schemas.source import Schedule

_INTERVAL = re.compile(r"\s*\d+(\.\d+)?\s*[smhdw]?\s*")
_RULE = re.compile(r"\s*(RRULE|DTSTART|FREQ)\b", re.IGNORECASE)


def as_schedules(value: object) -> object:
    """Return as a list of mappings what may be written short: `6h`, a cron expression, a rule."""
    return [_as_schedule(one) for one in (value if isinstance(value, list) else [value])]


def _as_schedule(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    if not isinstance(value, str) or _INTERVAL.fullmatch(value):
        return {"every": value}
    return {"rrule": value} if _RULE.match(value) else {"cron": value}


def _cron(expression: str) -> str:
    if refusal := cron_refusal(expression):
        raise ValueError(f"{expression!r} is not a cron expression ({refusal}), such as '15 2 * * *'")
    return expression


def _rule(rule: str) -> str:
    if refusal := rrule_refusal(rule):
        raise ValueError(
            f"{rule!r} is not a recurrence rule ({refusal}), such as 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=3'"
        )
    return rule


def _zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError(f"{name!r} is not a time zone of the IANA database, such as 'Europe/Berlin'")
    return name


def _at_least_a_second(seconds: float) -> float:
    if seconds < 1:
        raise ValueError("should be a second or longer")
    return seconds


def _not_ours(tags: tuple[str, ...]) -> tuple[str, ...]:
    if any(tag.startswith("sitegraph:") for tag in tags):
        raise ValueError("tags that begin with sitegraph: are kept for sitegraph deploy")
    return tags


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScheduleKeys(_Keys):
    """One schedule."""

    cron: Annotated[str, AfterValidator(_cron)] | None = None
    every: Annotated[Seconds, AfterValidator(_at_least_a_second)] | None = None
    rrule: Annotated[str, AfterValidator(_rule)] | None = None
    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    due: bool = Field(default=False, strict=True)
    active: bool = Field(default=True, strict=True)
    jitter: Seconds | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> "ScheduleKeys":
        if sum(one is not None for one in (self.cron, self.every, self.rrule)) != 1:
            raise ValueError("needs one of cron, every and rrule")
        if not fires(cron=self.cron, every=self.every, rrule=self.rrule, timezone=self.timezone):
            raise ValueError("never fires")
        if refusal := jitter_refusal(Schedule(**self.model_dump())):
            raise ValueError(refusal)
        return self


class FreshnessKeys(_Keys):
    """What is promised of a source."""

    slo: Annotated[Seconds, AfterValidator(_at_least_a_second)] | None = None
    missed_runs: Count = 2


def _one_or_several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class DeploymentKeys(_Keys):
    """Where a source runs."""

    pool: str | None = Field(default=None, min_length=1)
    queue: str | None = Field(default=None, min_length=1)
    tags: Annotated[tuple[str, ...], BeforeValidator(_one_or_several), AfterValidator(_not_ours)] = ()
    job_variables: Mapping[str, Any] = {}

    @field_serializer("job_variables")
    def _as_text(self, variables: Mapping[str, Any]) -> str:
        return json.dumps(variables, sort_keys=True) if variables else ""

    @field_validator("job_variables")
    @classmethod
    def _plain(cls, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            json.dumps(variables)
        except (TypeError, ValueError) as error:
            raise ValueError("holds a value that is not JSON; put dates and the like in quotes") from error
        return variables
