"""Dates as documents, servers and files write them > ISO 8601 in UTC; what is no date is None, no error.

Source: ISO 8601, W3C NOTE-datetime (also `2026` and `2026-03`), RFC 5322, ISO 32000-1 7.9.4 (`D:2026...`).
"""

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

from schemas.nodes import Dated, DateOrigin

FIRST_YEAR = 1990
"""Of the web; what claims to be older is the zero of somebody's calendar."""

_LONGEST = 64
_PARTIAL = re.compile(r"\d{4}(?:-\d{2})?")
_SPACED_ZONE = re.compile(r"\s+(?:(?=[+-]\d{2}:?\d{2}$)|(?:UTC|GMT)$|(?=Z$))")
"""Jekyll and `git log` write a space before the zone, which ISO 8601 does not."""
_PDF = re.compile(
    r"D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:Z[\d']*|([+-])(\d{2})'?(\d{2})?'?)?\0*"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_ENGLISH = re.IGNORECASE | re.ASCII
"""Without ASCII, a long s (U+017F) would match an s, and what it spells is not among the months."""

_IN_WORDS = (
    re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b", _ENGLISH),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.? {_MONTH},? (?P<year>\d{{4}})\b", _ENGLISH),
    re.compile(r"\b(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})\b", _ENGLISH),
)


def utc_of(value: object) -> str | None:
    """Return a date, or the text of one, as ISO 8601 in UTC to the second; without a zone it is in UTC."""
    if isinstance(value, datetime):
        return _utc(value)
    if isinstance(value, date):
        return _utc(datetime(value.year, value.month, value.day))
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    moment = _moment(text) if 0 < len(text) <= _LONGEST else None
    return _utc(moment) if moment is not None else None


def dated(value: object, origin: DateOrigin) -> Dated | None:
    """Return the date that *value* writes, also in words; None for none, and for one before the web."""
    at = utc_of(value) or (date_in_words(value[:_LONGEST]) if isinstance(value, str) else None)
    return None if at is None else Dated(at=at, origin=origin)


def date_in_words(text: str) -> str | None:
    """Return the first date in an English sentence: `May 3, 2024`, `3rd May 2024`, `2024-05-03`."""
    line = " ".join(text.split())
    found = [match for pattern in _IN_WORDS if (match := pattern.search(line))]
    if not found:
        return None
    said = min(found, key=lambda match: match.start()).groupdict()
    month = said.get("number") or _MONTHS.index(said["month"][:3].lower()) + 1
    return utc_of(f"{said['year']}-{int(month):02}-{int(said['day']):02}")


def from_timestamp(seconds: float, origin: DateOrigin) -> Dated | None:
    """Return seconds since 1970 as a date."""
    try:
        return dated(datetime.fromtimestamp(seconds, UTC), origin)
    except (ValueError, OverflowError, OSError):
        return None


def seconds_between(earlier: str, later: str) -> float:
    """Return how long after the first of two dates of `utc_of` the second is; less than 0 for before."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def _moment(text: str) -> datetime | None:
    if _PARTIAL.fullmatch(text):
        text = f"{text}-01" if len(text) == 7 else f"{text}-01-01"
    if match := _PDF.fullmatch(text):
        text = _as_iso(match)
    try:
        return datetime.fromisoformat(_SPACED_ZONE.sub("", text))
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _as_iso(match: re.Match[str]) -> str:
    """A date of a PDF, whose later parts may be left out."""
    year, month, day, hour, minute, second, sign, hours, minutes = match.groups()
    zone = f"{sign}{hours}:{minutes or '00'}" if sign else "+00:00"
    return f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}{zone}"


def _utc(moment: datetime) -> str | None:
    try:
        utc = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return utc.isoformat(timespec="seconds") if utc.year >= FIRST_YEAR else None
