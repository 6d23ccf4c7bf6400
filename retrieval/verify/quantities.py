"""Numbers of a text with their units, whichever way they are written: 1,000, 1.8 %, two weeks, 72 to 78 g."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from retrieval.verify.lexicon import SMALL_NUMBERS, TENS
from retrieval.verify.units import CURRENCY, DIGITS, DURATION, UNIT, Unit, unit_of

_SPELLED = {name: float(value) for value, name in enumerate(SMALL_NUMBERS)} | {
    name: 10.0 * value for value, name in enumerate(TENS, start=2)
}
_SCALES = {"dozen": 12.0, "hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_TIMES = {"twice": 2.0, "thrice": 3.0}

_WORD = "|".join((*_SPELLED, *_SCALES))
_SPELLED_RUN = rf"(?:{_WORD})(?:(?:[ -]|(?<=hundred)\sand\s|(?<=thousand)\sand\s)(?:{_WORD}))*"
_COUNTED = r"(?!(?:later|ago|long|or|and|of|to|for|per|before|after|until|at|in|from|is|are|was)\b)[a-z]+"
"""A second copy is no time."""
_WRITTEN = (
    rf"(?P<digits>{DIGITS})(?:\s(?P<scale>{'|'.join(_SCALES)})\b)?"
    rf"|\b(?P<spelled>(?i:{_SPELLED_RUN}))\b"
    r"|\b(?P<times>(?i:twice|thrice))\b"
    rf"|\b(?P<article>(?i:half\san?|an?))\b(?=[ -]{DURATION}\b)(?!\ssecond\s{_COUNTED})"
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?P<sign>[-−]?)(?P<currency>{CURRENCY})?\s?(?:{_WRITTEN})(?P<half>\sand\sa\shalf)?"
    rf"(?:[\s\u00a0\u202f-]?(?P<unit>{UNIT})(?P<more>\sand\sa\shalf)?(?:\s?(?:/|per\s)\s?(?P<per>{UNIT}))?)?(?!\w)"
)
_RANGE = re.compile(r"\s?(?:to|and|or|[-–—])\s?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number at (start, end) of a text; `values` are its readings, since 1.000 is one or a thousand.

    `counted` is False for "a week", which may be one week or each week.
    """

    text: str
    values: tuple[float, ...]
    unit: Unit | None
    start: int
    end: int
    counted: bool = True

    def equals(self, other: "Quantity") -> bool:
        """Whether both are the same amount; a number without a unit equals one with any."""
        ratio = self.unit.ratio(other.unit) if self.unit and other.unit else 1.0
        return ratio is not None and any(
            _close(mine * ratio, theirs) for mine in self.values for theirs in other.values
        )

    def competes(self, other: "Quantity") -> bool:
        """Whether both measure the same thing and differ."""
        mine, theirs = (one.unit.measures if one.unit else None for one in (self, other))
        return mine == theirs and not self.equals(other)


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Return numbers of *text* in order; "one" counts only before a unit, since it is mostly a pronoun."""
    found = [one for match in _NUMBER.finditer(text) if (one := _read(match))]
    return tuple(_share_units(text, found))


def _read(match: re.Match[str]) -> Quantity | None:
    unit = _unit(match)
    values = _values(match)
    if match["spelled"] and match["spelled"].casefold() == "one" and unit is None:
        return None
    if match["half"] or match["more"]:
        values = tuple(value + 0.5 for value in values)
    return Quantity(
        text=match[0].strip(),
        values=values,
        unit=unit,
        start=match.start(),
        end=match.end(),
        counted=not match["article"] or bool(match["more"]) or values[0] < 1,
    )


def _unit(match: re.Match[str]) -> Unit | None:
    written = match["unit"] or match["currency"]
    if written is None:
        return None
    return replace(unit_of(written), per=unit_of(match["per"])) if match["per"] else unit_of(written)


def _values(match: re.Match[str]) -> tuple[float, ...]:
    if match["article"]:
        return (0.5 if match["article"][0] in "hH" else 1.0,)
    if match["times"]:
        return (_TIMES[match["times"].casefold()],)
    if match["spelled"]:
        return (_spelled(match["spelled"]),)
    sign = -1.0 if match["sign"] else 1.0
    if match["scale"]:  # nobody writes a thousand million as 1.000 million
        return (sign * next(_readings(match["digits"])) * _SCALES[match["scale"]],)
    return tuple(sign * value for value in _readings(match["digits"]))


def _readings(digits: str) -> Iterator[float]:
    plain = re.sub(r"[’'_\u202f\u00a0\u2009]", "", digits)
    if re.fullmatch(r"\d+,\d{1,2}", plain):
        yield float(plain.replace(",", "."))
        return
    yield float(plain.replace(",", ""))
    if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", plain):
        yield float(plain.replace(".", ""))


def _spelled(words: str) -> float:
    """Return the value of `twenty-five`, `two hundred and six`, `a dozen`."""
    total = part = 0.0
    for word in re.findall(r"[a-z]+", words.casefold()):
        if word in _SPELLED:
            part += _SPELLED[word]
        elif word in _SCALES:
            part = (part or 1.0) * _SCALES[word]
            if part >= 1000:
                total, part = total + part, 0.0
    return total + part


def _share_units(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    """Return the first number of a range the unit of the second: 72 to 78 %."""
    for one, after in zip(found, [*found[1:], None], strict=False):
        if one.unit is None and after is not None and _RANGE.fullmatch(text[one.end : after.start]):
            yield replace(one, unit=after.unit)
        else:
            yield one


def _close(left: float, right: float) -> bool:
    return abs(left - right) <= 1e-6 * max(abs(left), abs(right))
