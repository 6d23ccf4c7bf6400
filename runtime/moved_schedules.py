"""Cron expressions and recurrence rules that fire so many minutes later, where one of its kind says that."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from runtime.recurrence_rules import FIRST

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
