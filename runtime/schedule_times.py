"""When schedules fire, worked out without Prefect: for the errors of source files, and for alarms."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import count, islice, takewhile
from zoneinfo import ZoneInfo

from runtime.recurrence_rules import START, rule_times
from schemas.source import Schedule

END = datetime(2052, 1, 1, tzinfo=UTC)
"""Where counting ends: in 28 years, until 2100, each date falls on each weekday, 29 February too."""

MOST = 1_000
"""Runs that are looked at: hourly ones reach over 41 days, and what is rarer over all seasons."""


def cron_refusal(expression: str) -> str | None:
    """Say what is wrong with a cron expression; what CronSim and Prefect read differently is refused."""
    from cronsim import CronSim, CronSimError

    fields = expression.split()
    if len(fields) != 5:
        return f"{len(fields)} of 5 fields"
    if "L" in fields[4].upper().replace("JUL", "") or "W" in fields[2].upper():
        return "L and W are not supported here"
    try:
        CronSim(expression, START)
    except CronSimError as error:
        return str(error)
    return None


def fires(*, cron: str | None, every: float | None, rrule: str | None, timezone: str) -> bool:
    """Whether a schedule ever fires."""
    return next(_times(Schedule(cron=cron, every=every, rrule=rrule, timezone=timezone)), None) is not None


def longest_wait(schedules: Sequence[Schedule], *, runs: int) -> float | None:
    """The longest time, in seconds, in which *runs* runs of active schedules begin; None where none does.

    It is measured over what the schedules do: a nightly run that rests on Sundays waits two days there. Where
    that is too little for so many runs, it is at most as many times the longest of fewer. A schedule that
    fires a single time has none.
    """
    active = [schedule for schedule in schedules if schedule.active]
    if not active:
        return None
    only = [schedule.every for schedule in active if schedule.every is not None]
    if len(only) == len(active):
        return runs * min(only) + _clock_change(active)
    ahead = takewhile(lambda time: time < END, merge(*map(_times, active)))
    times = list(islice(ahead, MOST + min(runs, MOST)))
    measured = min(runs, MOST, len(times) - 1)
    if measured < 1:
        return None
    waits = ((late - early).total_seconds() for early, late in zip(times, times[measured:], strict=False))
    return max(waits) * -(-runs // measured)


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
        yield from (time.replace(tzinfo=zone).astimezone(UTC) for time in rule_times(schedule.rrule))
    else:
        step = timedelta(seconds=schedule.every or 0)
        yield from (START + number * step for number in count())


def _cron_times(expression: str, zone: ZoneInfo) -> Iterator[datetime]:
    from cronsim import CronSim

    yield from (time.astimezone(UTC) for time in CronSim(expression, START.astimezone(zone)))
