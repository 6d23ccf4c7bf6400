"""Dates of a text in the ways they are written, as far as they go: a day, a month, a day of a month."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.verify.lexicon import MONTHS

_NUMBER_OF = {name[:3]: number for number, name in enumerate(MONTHS, start=1)}
_MONTH = "|".join(f"{name.capitalize()}|{name[:3].capitalize()}\\.?" for name in MONTHS) + r"|Sept\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = tuple(
    re.compile(rf"(?<![\w.-]){form}(?![\w-])")
    for form in (
        r"(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?:T[\d:.Z+]+)?",
        rf"{_DAY}(?:\sof)?\s(?P<month>{_MONTH}),?\s{_YEAR}",
        rf"(?P<month>{_MONTH})\s{_DAY},?\s{_YEAR}",
        r"(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?P<year>\d{4})",
        r"(?P<day>\d{1,2})/(?P<number>\d{1,2})/(?P<year>\d{4})",
        rf"(?P<month>{_MONTH}),?\s(?:of\s)?{_YEAR}",
        rf"{_DAY}(?:\sof)?\s(?P<month>{_MONTH})",
        rf"(?P<month>{_MONTH})\s{_DAY}",
        r"(?P<year>(?:19|20)\d{2})-(?P<number>0[1-9]|1[0-2])",
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Date:
    """A date at (start, end) of a text; what it does not tell is None. `swapped` reads 3/4 the other way."""

    text: str
    year: int | None
    month: int
    day: int | None
    start: int
    end: int
    swapped: bool = False

    def follows_from(self, stated: "Date") -> bool:
        """Whether *stated* says all that this date says; it may say more."""
        return any(
            (self.year in (None, stated.year)) and (self.day in (None, day)) and self.month == month
            for month, day in stated._readings()
        ) or (self.swapped and self._other_way().follows_from(stated))

    def _readings(self) -> Iterator[tuple[int, int | None]]:
        yield self.month, self.day
        if self.swapped and self.day is not None:
            yield self.day, self.month

    def _other_way(self) -> "Date":
        month, day = self.day or self.month, self.month
        return Date(text=self.text, year=self.year, month=month, day=day, start=self.start, end=self.end)


def find_dates(text: str) -> tuple[Date, ...]:
    """Return the dates of *text* in order; a year alone is a number."""
    found: list[Date] = []
    for form in _FORMS:
        for match in form.finditer(text):
            if all(match.end() <= one.start or match.start() >= one.end for one in found):
                found.append(_read(match))
    return tuple(sorted(found, key=lambda one: one.start))


def _read(match: re.Match[str]) -> Date:
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else _NUMBER_OF[parts["month"][:3].lower()]
    year, day = parts.get("year"), parts.get("day")
    return Date(
        text=match[0],
        year=int(year) if year else None,
        month=month,
        day=int(day) if day else None,
        start=match.start(),
        end=match.end(),
        swapped="/" in match[0],
    )
