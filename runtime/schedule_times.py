"""When schedules fire, worked out without Prefect: for the errors of source files, and for alarms."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice
from zoneinfo import ZoneInfo

from schemas.source import Schedule

START = datetime(2024, 1, 1, tzinfo=UTC)
"""Where counting begins: a fixed day, so that one deploy works out the same as the next."""

HORIZON = timedelta(days=4 * 366)
"""A cron expression may be for 29 February alone."""

MOST = 1_000
"""Runs that are looked at: hourly ones reach over 41 days, and what is rarer over all seasons."""


def cron_refusal(expression: str) -> str | None:
    """Say what is wrong with a cron expression; what CronSim and Prefect read differently is refused."""
    from cronsim import CronSim, CronSimError

    fields = expression.split()
    if len(fields) != 5:
        return f"{len(fields)} of 5 fields"
    if "L" in fields[4].upper().replace("JUL", "") or "W" in fields[2].upper():
        return "L and W are not for this"
    try:
        CronSim(expression, START)
    except CronSimError as error:
        return str(error)
    return None


def rrule_refusal(rule: str) -> str | None:
    """Say what is wrong with a recurrence rule."""
    from dateutil.rrule import rrulestr

    if "TZID" in rule.upper():
        return "its time zone belongs into timezone"
    try:
        rrulestr(rule, ignoretz=True)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        return str(error) or "not in the form of RFC 5545"
    return None


def fires(*, cron: str | None, every: float | None, rrule: str | None, timezone: str) -> bool:
    """Whether a schedule ever fires."""
    return next(_times(Schedule(cron=cron, every=every, rrule=rrule, timezone=timezone)), None) is not None


def longest_wait(schedules: Sequence[Schedule], *, runs: int) -> float | None:
    """The longest time, in seconds, in which *runs* runs of active schedules begin; None where none does.

    It is measured over what the schedules do: a nightly run that rests on Sundays waits two days there.
    """
    active = [schedule for schedule in schedules if schedule.active]
    if not active:
        return None
    only = [schedule.every for schedule in active if schedule.every is not None]
    if len(only) == len(active):
        return runs * min(only) + _clock_change(active)
    times = list(islice(merge(*map(_times, active)), MOST + runs))
    waits = [(late - early).total_seconds() for early, late in zip(times, times[runs:], strict=False)]
    return max(waits, default=None)


def _clock_change(schedules: Iterable[Schedule]) -> float:
    """From a day on, intervals follow the clock of their zone, which is put back by an hour once a year."""
    follows = any((one.every or 0) >= 86_400 and one.timezone != "UTC" for one in schedules)
    return 3_600.0 if follows else 0.0


def _times(schedule: Schedule) -> Iterator[datetime]:
    """Yield when a schedule fires, in UTC, from the start on."""
    zone = ZoneInfo(schedule.timezone)
    if schedule.cron is not None:
        yield from _cron_times(schedule.cron, zone)
    elif schedule.rrule is not None:
        yield from _rule_times(schedule.rrule, zone)
    else:
        step = timedelta(seconds=schedule.every or 0)
        yield from (START + number * step for number in range(MOST * 2))


def _cron_times(expression: str, zone: ZoneInfo) -> Iterator[datetime]:
    from cronsim import CronSim

    for time in CronSim(expression, START.astimezone(zone)):
        if time - START > HORIZON:
            return
        yield time.astimezone(UTC)


def _rule_times(rule: str, zone: ZoneInfo) -> Iterator[datetime]:
    """A rule without DTSTART begins in 2020, as Prefect has it; times of a rule are those of the zone."""
    from dateutil.rrule import rrulestr

    parsed = rrulestr(rule, dtstart=datetime(2020, 1, 1), ignoretz=True)
    for time in parsed.xafter(START.replace(tzinfo=None), count=MOST * 2):
        yield time.replace(tzinfo=zone).astimezone(UTC)
