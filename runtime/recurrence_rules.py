"""Recurrence rules of RFC 5545: which are taken, and when they fire. No rule may hang who reads it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import dropwhile, islice, takewhile

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
