"""Dates in filters: what a user writes, as half-open intervals that a store can hold against a column."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta

from schemas.errors import FilterError
from schemas.evidence import Filter

RECENCY = "recency"
"""The filter key that is no column: its values are ages."""

OPEN_END = ".."
"""An end that is not there (ISO 8601-2, 4.4)."""
_CLOCK = r"[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[ +-]\d{2}:?\d{2})?"
_TIME = rf"\d{{4}}(?:-\d{{2}}(?:-\d{{2}}(?:{_CLOCK})?)?)?"
_BOUND = re.compile(rf"(?P<sign>>=|<=|>|<|=|)\s*(?P<time>{_TIME})")
_RANGE = re.compile(rf"(?P<first>{_TIME})?\s*\.\.\s*(?P<last>{_TIME})?")
_AGE = re.compile(r"([1-9][0-9]{0,4})d")


def parse_bound(value: str) -> str:
    """Turn `>=2024-01-01`, `2024-01..2024-06` or a day into `FROM/TO`, either end perhaps `..`.

    A year, a month and a day are whole; a time without a zone is in UTC. Raises: FilterError: no date.
    """
    try:
        return "/".join(_ends(value))
    except (ValueError, OverflowError):
        raise FilterError(
            "must be a date, optionally after >=, >, <= or <, or two dates with .. between, such as "
            f">=2024-01-01 or 2024-01-01..2024-06-30, not {value!r}",
            subject="last_modified",
        ) from None


def combine_bounds(values: Iterable[str]) -> tuple[str, ...]:
    """Return the intervals in which a date meets all that was said: comparisons bound, days are alternatives.

    Raises: FilterError: no date can meet it.
    """
    said = sorted({tuple(value.split("/")) for value in values})
    low = max((start for start, end in said if end == OPEN_END != start), default=OPEN_END)
    high = min((end for start, end in said if start == OPEN_END != end), default=OPEN_END)
    spans = [one for one in said if OPEN_END not in one] or [(OPEN_END, OPEN_END)]
    cut = ((_later(start, low), _earlier(end, high)) for start, end in spans)
    left = tuple("/".join(one) for one in cut if OPEN_END in one or one[0] < one[1])
    if not left:
        raise FilterError("no date meets all these conditions", subject="last_modified")
    return left


def end_of(text: str) -> str:
    """Return the first instant after the year, month, day or second that *text* names, in UTC.

    Raises: ValueError: it names none.
    """
    if not re.fullmatch(_TIME, text):
        raise ValueError(text)
    return _span(text)[1]


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


def _ends(value: str) -> tuple[str, str]:
    if match := _BOUND.fullmatch(value):
        start, end = _span(match["time"])
        if match["sign"] == ">" and end == OPEN_END:
            raise ValueError(value)
        below = {">=": (start, OPEN_END), ">": (end, OPEN_END), "<": (OPEN_END, start), "<=": (OPEN_END, end)}
        return below.get(match["sign"], (start, end))
    match = _RANGE.fullmatch(value)
    if match is None or not (match["first"] or match["last"]):
        raise ValueError(value)
    start = _span(match["first"])[0] if match["first"] else OPEN_END
    end = _span(match["last"])[1] if match["last"] else OPEN_END
    if OPEN_END not in (start, end) and start >= end:
        raise ValueError(value)
    return start, end


def _later(one: str, other: str) -> str:
    return max(one, other) if OPEN_END not in (one, other) else one if other == OPEN_END else other


def _earlier(one: str, other: str) -> str:
    return min(one, other) if OPEN_END not in (one, other) else one if other == OPEN_END else other


def _span(text: str) -> tuple[str, str]:
    """First instant of a year, a month, a day or a second, and of the next; behind the last year it is open.

    Source: ISO 8601 dates end with 9999, and so does `datetime`; no column has a later one.
    """
    if len(text) <= len("2024-01-01"):
        first = date.fromisoformat(f"{text}-01-01"[: len("2024-01-01")])
        days = {len("2024"): 366, len("2024-01"): 31}.get(len(text), 1)
        return first.isoformat(), _or_open(lambda: _day_of(first + timedelta(days=days), len(text)))
    # In a query string + means a space.
    moment = datetime.fromisoformat(f"{text[:19]}{text[19:].replace(' ', '+')}".upper())
    return _instant(moment), _or_open(lambda: _instant(moment + timedelta(seconds=1)))


def _day_of(day: date, kept: int) -> str:
    """Return the first day of the year, month or day that the first *kept* characters of a date name."""
    return f"{day.isoformat()[:kept]}-01-01"[: len("2024-01-01")]


def _or_open(end: Callable[[], str]) -> str:
    try:
        return end()
    except OverflowError:
        return OPEN_END


def _instant(moment: datetime) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


def read_instant(text: str | None) -> datetime | None:
    """Return the time that an ISO 8601 text says, in UTC where it has no zone; None where it says none."""
    try:
        instant = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return instant if instant is None or instant.tzinfo else instant.replace(tzinfo=UTC)
