"""Times and schedules as people write them: which are taken, when they fire, and how jitter moves them.

The schedule itself is moved (its minutes, its hours), not the start of its runs: they begin when Prefect
planned them, so no alarm takes them for late, and as far apart as before, so none misses one. Of the window
those whole minutes count by which the schedule can be written anew as one schedule.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import count, dropwhile, islice, takewhile
from zoneinfo import ZoneInfo

from schemas.source import Schedule

_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhdw]?)\s*")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}

CENTURY = 100 * 365.25 * 86400.0
"""No time may be longer: a date beyond the year 9999 cannot be kept."""


def seconds_of(text: str) -> float:
    """Read a time: a number of seconds, or a number with a unit.

    Raises: ValueError: it is neither.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError("write a number of seconds, or a number with one of the units s, m, h, d, w")
    return float(match[1]) * _UNITS[match[2]]


def duration(seconds: float) -> str:
    """A time as people write it: 90s, 15m, 6h, 2d."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"


START = datetime(2024, 1, 1, tzinfo=UTC)
"""From when on times are asked for: a fixed day, so that one deploy works out the same as the next."""

FIRST = datetime(2020, 1, 1)
"""A rule without DTSTART begins here, as Prefect has it."""

MOST_STEPS = 150_000
"""Times that are counted from DTSTART on: one each quarter of an hour since 2020 is within it."""

_FROM = START.replace(tzinfo=None)
_LAST = datetime(9999, 12, 30)
"""No time zone moves an earlier time out of the calendar."""
_TOO_OFTEN = "use every, such as 15m, for runs more often than hourly"
_WRITTEN_RULE = re.compile(r"\s*(RRULE|DTSTART|FREQ)\b", re.IGNORECASE)
_FREQ = re.compile(r"FREQ=(SECONDLY|MINUTELY|HOURLY|DAILY)")
_INTERVAL = re.compile(r"INTERVAL=([^;]*)")
_START = re.compile(r"DTSTART[^:]*:(\d{4})(\S*)")
_LIMIT = re.compile(r";?(UNTIL|COUNT)=[^;]*")


def rrule_refusal(rule: str) -> str | None:
    """Say what is wrong with a recurrence rule."""
    from dateutil.rrule import rrulestr

    text = rule.upper()
    if refusal := _refusal_of_text(text):
        return refusal
    try:
        parsed = rrulestr(rule, dtstart=FIRST, ignoretz=True)
        if not all(_fires_ever(line, text) for line in _lines(text)):
            return "it never fires"
        before = takewhile(lambda time: time < _FROM, parsed)
        steps = sum(1 for _ in islice(before, MOST_STEPS + 1))
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        return str(error) or "not in the form of RFC 5545"
    return f"too many times to count from DTSTART on; {_TOO_OFTEN}" if steps > MOST_STEPS else None


def rule_times(rule: str) -> Iterator[datetime]:
    """Yield when a rule that is not refused fires from the start on, by the clock of its zone."""
    from dateutil.rrule import rrulestr

    steps = islice(rrulestr(rule, dtstart=FIRST, ignoretz=True), 2 * MOST_STEPS)
    return takewhile(lambda time: time < _LAST, dropwhile(lambda time: time < _FROM, steps))


def _refusal_of_text(text: str) -> str | None:
    """What is wrong with it as it is written, in capitals."""
    if "TZID" in text:
        return "its time zone belongs in timezone"
    if "EXRULE" in text:
        return "RFC 5545 has no EXRULE; name dates with EXDATE"
    if "DTSTART" in text and not _START.search(text):
        return "DTSTART is written as in DTSTART:20260105T030000"
    return next(filter(None, map(_refusal_of_line, _lines(text))), None)


def _refusal_of_line(line: str) -> str | None:
    freq = (found := _FREQ.search(line)) and found[1]
    if freq in ("SECONDLY", "MINUTELY"):
        return _TOO_OFTEN
    if freq is not None and "BYSETPOS=" in line:
        return f"BYSETPOS is for WEEKLY, MONTHLY and YEARLY, not for {freq}"
    if (interval := _INTERVAL.search(line)) and not (interval[1].isdecimal() and int(interval[1])):
        return "INTERVAL is a whole number of at least 1"
    return None


def _lines(text: str) -> list[str]:
    return [part for part in text.split() if "FREQ=" in part]


def _fires_ever(line: str, text: str) -> bool:
    """Whether a rule without its end ever fires.

    dateutil looks for a time until the year 9999, which takes seconds. The calendar repeats every 400 years:
    the rule is asked so many of them later that few years are left.
    """
    from dateutil.rrule import rrulestr

    if "BYEASTER=" in line:  # every year has one, and dateutil knows none after 4099
        return True
    year, rest = found.groups() if (found := _START.search(text)) else ("2020", "0101T000000")
    later = int(year) + (9_700 - int(year)) // 400 * 400
    asked = f"DTSTART:{later}{rest}\nRRULE:{_LIMIT.sub('', line.removeprefix('RRULE:')).strip(';')}"
    return next(iter(rrulestr(asked, ignoretz=True)), None) is not None


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


def as_schedules(value: object) -> object:
    """Return as a list of mappings what may be written short: `6h`, a cron expression, a rule."""
    return [_as_schedule(one) for one in (value if isinstance(value, list) else [value])]


def _as_schedule(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    if not isinstance(value, str) or _TIME.fullmatch(value):
        return {"every": value}
    return {"rrule": value} if _WRITTEN_RULE.match(value) else {"cron": value}


def schedule_refusal(schedule: Schedule) -> str | None:
    """Say why a schedule, whose parts are taken one by one, is not taken as a whole."""
    if sum(one is not None for one in (schedule.cron, schedule.every, schedule.rrule)) != 1:
        return "needs one of cron, every and rrule"
    if next(_times(schedule), None) is None:
        return "never fires"
    return _jitter_refusal(schedule)


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


_EVERY_HOUR, _WEEK = frozenset(range(24)), frozenset(range(7))
_DATE = re.compile(r"\d{8}(?:T\d{6})?")
_LONG = re.compile(r"FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)")


def move_cron(expression: str, by: int) -> str | None:
    """Write an expression that fires *by* minutes later by the clock of its zone.

    None: no single expression does, since only some of its times come into the next hour, or, where it names
    days of the month or months, into the next day.
    """
    from cronsim import CronSim

    if by == 0:
        return expression
    read, fields = CronSim(expression, FIRST), expression.split()
    numbered = {day % 7 for day in read.weekdays if isinstance(day, int)}
    only_weekdays = fields[2:4] == ["*", "*"] and all(isinstance(day, int) for day in read.weekdays)
    daily = only_weekdays and numbered == _WEEK
    if daily and read.hours == _EVERY_HOUR:
        return _cron({(minute + by) % 60 for minute in read.minutes}, read.hours, fields[2:])
    times = _later(read.hours, read.minutes, by)
    if times is None:
        return None
    hours, minutes = times
    if daily or max(hours) < 24:
        return _cron(minutes, hours, fields[2:])
    if min(hours) < 24 or not only_weekdays:
        return None
    return _cron(minutes, hours, ["*", "*", _listed((day + 1) % 7 for day in numbered)])


def move_rule(rule: str, by: int) -> str | None:
    """Write a rule that fires *by* minutes later by the clock of its zone.

    None: no rule of these days does, since some of its times come into the next hour and others do not, or
    into the next day (of an hourly rule: into the next hour).
    """
    if by == 0:
        return rule
    lines = rule.upper().split()
    start = next((_date(line) for line in lines if line.startswith("DTSTART")), FIRST)
    if (start + timedelta(minutes=by)).date() != start.date():
        return None
    written = [_move_line(line, by, start) for line in lines]
    return None if None in written else "\n".join(filter(None, written))


def _move_line(line: str, by: int, start: datetime) -> str | None:
    if "FREQ=" not in line:
        return _DATE.sub(lambda found: _later_date(found[0], by), line)
    name, colon, text = line.rpartition(":")
    parts = dict(part.split("=", 1) for part in text.split(";") if part)
    hours = _numbers(parts.get("BYHOUR"), start.hour if _LONG.search(line) else 0)
    times = _later(hours, _numbers(parts.get("BYMINUTE"), start.minute), by)
    if times is None or max(times[0]) > 23:
        return None
    if not _LONG.search(line) and set(times[0]) != set(hours):
        return None
    parts["BYMINUTE"] = _listed(times[1])
    if _LONG.search(line):
        parts["BYHOUR"] = _listed(times[0])
    if "UNTIL" in parts:
        parts["UNTIL"] = _DATE.sub(lambda found: _later_date(found[0], by), parts["UNTIL"])
    return name + colon + ";".join(f"{key}={value}" for key, value in parts.items())


def _later(
    hours: Collection[int], minutes: Collection[int], by: int
) -> tuple[Collection[int], Collection[int]] | None:
    """Hours (from 24 on: of the next day) and minutes that are later; None where no two lists say it."""
    carries = {(minute + by) // 60 for minute in minutes}
    if len(carries) != 1:
        return None
    (carry,) = carries
    return {hour + carry for hour in hours}, {(minute + by) % 60 for minute in minutes}


def _cron(minutes: Collection[int], hours: Collection[int], days: Sequence[str]) -> str:
    of_day = {hour % 24 for hour in hours}
    return " ".join([_listed(minutes), "*" if of_day == _EVERY_HOUR else _listed(of_day), *days])


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, sorted(numbers)))


def _numbers(written: str | None, otherwise: int) -> set[int]:
    return {otherwise} if written is None else {int(number) for number in written.split(",")}


def _date(line: str) -> datetime:
    found = _DATE.search(line.partition(":")[2])
    return datetime.fromisoformat(found[0]) if found else FIRST


def _later_date(written: str, by: int) -> str:
    return (datetime.fromisoformat(written) + timedelta(minutes=by)).strftime("%Y%m%dT%H%M%S")


SHORTEST, LONGEST = 60.0, 86_400.0
"""Seconds of a window: cron has minutes; a longer one would give runs to days they are not planned for."""


def _jitter_refusal(schedule: Schedule) -> str | None:
    """Say why a schedule cannot have its jitter."""
    if not schedule.jitter:
        return None
    if schedule.every is not None:
        return "jitter is longer than every" if schedule.jitter > schedule.every else None
    if not SHORTEST <= schedule.jitter <= LONGEST:
        return "jitter of cron and rrule is from 1m to 24h"
    if len(slots(schedule)) > 1:
        return None
    return (
        "jitter has no room: a minute later would be the next hour for some of its runs only, or another "
        "day; move the schedule itself, or leave jitter out"
    )


def moved(schedule: Schedule, name: str) -> Schedule:
    """Return a schedule as it fires for the source *name*; an interval, which its anchor moves, as it is."""
    if not schedule.jitter or schedule.every is not None:
        return schedule
    places = slots(schedule)
    minutes = places[share(name, len(places))]
    if schedule.cron is not None:
        return replace(schedule, cron=move_cron(schedule.cron, minutes))
    return replace(schedule, rrule=move_rule(schedule.rrule or "", minutes))


def share(name: str, places: int) -> int:
    """One of so many places, from 0 on: for one name the same at any time and on any machine."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % max(places, 1)


def slots(schedule: Schedule) -> Sequence[int]:
    """Minutes of the window by which a cron expression or a rule can be moved; the first is 0."""
    window = range(int((schedule.jitter or 0) // 60) + 1)
    if schedule.cron is not None:
        return [by for by in window if move_cron(schedule.cron, by) is not None]
    return [by for by in window if move_rule(schedule.rrule or "", by) is not None]
