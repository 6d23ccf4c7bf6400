"""Dates in filters: what a user writes, as half-open intervals that a store can hold against a column."""

import re
from datetime import UTC, date, datetime, timedelta

from schemas.errors import FilterError
from schemas.evidence import Filter

RECENCY = "recency"
"""The filter key that is no column: its values are ages."""

OPEN_END = ".."
"""An end that is not there (ISO 8601-2, 4.4)."""
_BOUND = re.compile(
    r"(?P<sign>>=|<=|>|<|)\s*(?P<instant>\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?)"
)
_AGE = re.compile(r"([1-9][0-9]{0,4})d")


def parse_bound(value: str) -> str:
    """Turn `>=2024-01-01`, `<2024-06-01` or a day into `FROM/TO`, either end perhaps `..`; a time is UTC.

    Raises: FilterError: no date.
    """
    match = _BOUND.fullmatch(value)
    try:
        start, end = _span(match["instant"]) if match else ("", "")
    except ValueError:
        match = None
    if match is None:
        raise FilterError(
            f"must be a date, perhaps after >=, >, <= or <, such as >=2024-01-01, not {value!r}",
            subject="last_modified",
        )
    below = {">=": (start, OPEN_END), ">": (end, OPEN_END), "<": (OPEN_END, start), "<=": (OPEN_END, end)}
    return "/".join(below.get(match["sign"], (start, end)))


def parse_age(value: str) -> str:
    """Check an age such as `90d`.

    Raises: FilterError: none.
    """
    if not _AGE.fullmatch(value):
        raise FilterError(f"must be a number of days such as 90d, not {value!r}", subject=RECENCY)
    return value


def younger_than(ages: tuple[str, ...], as_of: str) -> str:
    """Return the interval from the longest of *ages* before *as_of* on; any time where *as_of* is unknown."""
    days = max(int(age[:-1]) for age in ages)
    try:
        start = datetime.fromisoformat(as_of) - timedelta(days=days)
    except (ValueError, OverflowError):
        return f"{OPEN_END}/{OPEN_END}"
    return f"{_instant(start)}/{OPEN_END}"


def date_filters(filters: tuple[Filter, ...], as_of: str) -> tuple[Filter, ...]:
    """Turn ages into dates: they count back from when the generation was made, not from a clock."""
    return tuple(
        Filter(field="last_modified", values=(younger_than(one.values, as_of),))
        if one.field == RECENCY
        else one
        for one in filters
    )


def _span(text: str) -> tuple[str, str]:
    """First instant of a day, or of a second, and of the next."""
    if len(text) == len("2024-01-01"):
        day = date.fromisoformat(text)
        return day.isoformat(), (day + timedelta(days=1)).isoformat()
    moment = datetime.fromisoformat(text)
    return _instant(moment), _instant(moment + timedelta(seconds=1))


def _instant(moment: datetime) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")
