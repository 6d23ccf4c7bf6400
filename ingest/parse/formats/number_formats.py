"""Numbers of spreadsheets as their cells show them, by number format (ECMA-376-1, 18.8.30 and 18.8.31).

What a format leaves to the system of the reader is written without one: dates as ISO 8601, names in English.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

_DAY = "yyyy-mm-dd"
_MONEY = tuple(f'"$"#,##0{cents}_);("$"#,##0{cents})' for cents in ("", "", ".00", ".00"))
_NEGATIVE = tuple(f"#,##0{cents}_);(#,##0{cents})" for cents in ("", "", ".00", ".00"))
_ACCOUNT = tuple(
    f'_({sign}* #,##0{cents}_);_({sign}* (#,##0{cents});_({sign}* "-"_)'
    for cents in ("", ".00")
    for sign in ("", "$")
)
_TIMES = ("h:mm AM/PM", "h:mm:ss AM/PM", "h:mm", "h:mm:ss", f"{_DAY} h:mm")
_RUNS = {
    0: ("General", "0", "0.00", "#,##0", "#,##0.00", *_MONEY, "0%", "0.00%", "0.00E+00"),
    14: (_DAY, "d-mmm-yy", "d-mmm", "mmm-yy", *_TIMES),
    27: (_DAY,) * 10,
    37: (*_NEGATIVE, *_ACCOUNT, "mm:ss", "[h]:mm:ss", "mm:ss.0", "##0.0E+0", "@"),
    50: (_DAY,) * 9,
}
BUILT_IN: Mapping[int, str] = {
    number: code for first, codes in _RUNS.items() for number, code in enumerate(codes, first)
}
"""Formats that files name by a number alone; systems differ in 14, 22, 27 to 36 and 50 to 58."""

_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;])*);')
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|(?P<space>_.|\*.)|\[(?P<bracket>[^\]]*)\]|(?P<general>General|@)'
    r"|(?P<half>AM/PM|A/P)|(?P<power>E[+-])|(?P<date>[ye]+|m+|d+|h+|s+(?:\.0+)?)|(?P<place>[0#?.,%/])"
    r"|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CURRENCY = re.compile(r"\$([^-]*)")
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d*)?)")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_LAST_DAY = 2_958_466
"""The day after 9999-12-31; day 1 is 1900-01-01."""

_NO_LEAP = 60
"""The day that spreadsheets count as 1900-02-29, which never was."""

_FROM_1904 = 1_462
"""Days between the two days from which files count."""

_WHOLE = 1e15
"""Below it every integer is told from the next."""

_GENERAL = ".10g"
"""As many digits a cell without a format has, if its number is no integer and it is wide enough."""

_LONG = 1e9
"""From here on they would leave nothing behind the point, and cut what is before it."""


@dataclass(frozen=True, slots=True)
class _Section:
    """One of up to three parts of a format: pieces as (kind, text); `holds` says for which numbers it is."""

    pieces: tuple[tuple[str, str], ...]
    holds: Callable[[float], bool] | None = None

    def kinds(self) -> set[str]:
        """What kinds of pieces it has."""
        return {kind for kind, _ in self.pieces}

    def says_sign(self, value: float) -> bool:
        """Whether a negative number gets no sign from us: it begins with one, or is for no other numbers."""
        if "".join(text for _, text in self.pieces).strip()[:1] in {"-", "("}:
            return True
        holds = self.holds
        return holds is not None and holds(value) and not (holds(0) or holds(-value))


def show_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return what a cell with a number shows; if its format cannot show it, the number.

    Args: code: the format as the file has it. since_1904: days are counted from 1904-01-01.
    """
    section, sign = _section_for(value, _sections(code))
    try:
        shown = "".join(_shown(value, section, since_1904))
    except (ArithmeticError, ValueError):
        return _general(value)
    return " ".join(f"{sign if re.search('[1-9]', shown) else ''}{shown}".split())


def is_date_format(code: str) -> bool:
    """Whether a format shows numbers as dates or times."""
    return not _sections(code)[0].kinds().isdisjoint({"date", "elapsed"})


def _section_for(value: float, sections: tuple[_Section, ...]) -> tuple[_Section, str]:
    """The part for a number, and its sign if that does not say it."""
    positive, *others = sections
    if any(section.holds for section in sections):
        fitting = (one for one in sections if one.holds is None or one.holds(value))
        section = next(fitting, sections[-1])
        return section, "-" if value < 0 and not section.says_sign(value) else ""
    if value < 0:
        return (others[0], "") if others else (positive, "-")
    return (others[1] if value == 0 and len(others) > 1 else positive), ""


def _shown(value: float, section: _Section, since_1904: bool) -> Iterator[str]:
    kinds = section.kinds()
    if kinds & {"date", "elapsed"}:
        return _date_pieces(value, section.pieces, _FROM_1904 * since_1904)
    if "general" in kinds:
        return (_general(abs(value)) if kind == "general" else text for kind, text in section.pieces)
    return _number_pieces(Decimal(repr(abs(value))), section.pieces)


@lru_cache(maxsize=1_024)
def _sections(code: str) -> tuple[_Section, ...]:
    return tuple(_section(found[1] or '""') for found in _SECTION.finditer(f"{code or 'General'};"))[:3]


def _section(code: str) -> _Section:
    pieces: list[tuple[str, str]] = []
    holds = None
    for found in _TOKEN.finditer(code):
        kind = found.lastgroup or ""
        text = found[kind]
        if kind == "bracket":
            pieces.append(_bracket(text))
            holds = _condition(text) or holds
        elif kind in {"quoted", "escaped", "other"}:
            pieces.append(("literal", text))
        elif kind != "space":
            pieces.append((kind, text))
    return _Section(tuple(pieces), holds)


def _bracket(text: str) -> tuple[str, str]:
    """A time that goes on beyond a day, a currency, or nothing that is shown: a colour, a condition."""
    currency = _CURRENCY.match(text)
    return ("elapsed", text) if _ELAPSED.fullmatch(text) else ("literal", currency[1] if currency else "")


def _condition(text: str) -> Callable[[float], bool] | None:
    found = _CONDITION.fullmatch(text)
    return (lambda value: _COMPARE[found[1]](value, float(found[2]))) if found else None


def _general(value: float) -> str:
    if abs(value) < _WHOLE and value == int(value):
        return str(int(value))
    return format(value, _GENERAL if abs(value) < _LONG else ".15g").upper()


def _number_pieces(value: Decimal, pieces: tuple[tuple[str, str], ...]) -> Iterator[str]:
    places = "".join(text.upper() for kind, text in pieces if kind in {"place", "power"})
    if "/" in places:
        raise ValueError(places)
    mantissa, _, power = places.replace("%", "").partition("E")
    whole, _, part = mantissa.partition(".")
    thousands = sum(len(text) - len(text.rstrip(",")) for text in (whole, part))
    scaled = value * 100 ** places.count("%") / 1_000**thousands
    slots, parts = whole.replace(",", ""), part.replace(",", "")
    rounded, exponent = _rounded(scaled, len(parts), max(len(slots), 1) if "E" in places else 0)
    above, _, below = f"{rounded:f}".partition(".")
    kept = len(below.rstrip("0"))
    before = _filled(slots, above.lstrip("0"), grouped="," in whole.strip(","))
    behind = (digit if at < kept or parts[at] == "0" else "" for at, digit in enumerate(below))
    digits = iter((*before, *behind, *_filled(power[1:], str(abs(exponent)))))
    for kind, text in pieces:
        if kind == "power":
            yield f"E{'-' if exponent < 0 else text[1].replace('-', '')}"
        elif kind != "place" or text == "%":
            yield text
        elif text == ".":
            yield "." if slots else f"{above.lstrip('0')}."
        elif text != ",":
            yield next(digits)


def _rounded(value: Decimal, decimals: int, step: int) -> tuple[Decimal, int]:
    """A number in as many decimals, and the power of ten, a multiple of *step*, to multiply it with."""
    unit = Decimal(1).scaleb(-decimals)
    exponent = value.adjusted() // step * step if step and value else 0
    found = value.scaleb(-exponent).quantize(unit, ROUND_HALF_UP)
    if not step or found < 10**step:
        return found, exponent
    return found.scaleb(-step).quantize(unit), exponent + step


def _filled(places: str, digits: str, *, grouped: bool = False) -> Iterator[str]:
    """What each place before the point shows; digits for which there is none stand at the first."""
    padded = digits.rjust(len(places))
    surplus = len(padded) - len(places)
    shown = ""
    for at, digit in enumerate(padded):
        left = len(padded) - at - 1
        own = places[max(0, at - surplus)].strip("#?") if digit == " " else digit
        shown += own + ("," if grouped and own and left and left % 3 == 0 else "")
        if at >= surplus:
            yield shown
            shown = ""


def _date_pieces(days: float, pieces: tuple[tuple[str, str], ...], before: int) -> Iterator[str]:
    """A date or time; *before* are the days before those that the file counts, but none that have passed."""
    if not 0 <= days < _LAST_DAY - before:
        raise ValueError(days)
    precision = max(len(text.partition(".")[2]) for kind, text in (*pieces, ("date", "")) if kind == "date")
    passed = timedelta(seconds=round(days * 86_400, precision))
    moment = datetime(1899, 12, 31 if days + before < _NO_LEAP else 30) + timedelta(before) + passed
    units = [text[0].lower() if kind in {"date", "elapsed"} else "" for kind, text in pieces]
    is_half = any(kind == "half" for kind, _ in pieces)
    for at, (kind, text) in enumerate(pieces):
        if kind == "elapsed":
            seconds = {"h": 3_600, "m": 60, "s": 1}[units[at]]
            yield str(int(passed.total_seconds() // seconds)).zfill(len(text))
        elif kind == "half":
            yield ("AM" if moment.hour < 12 else "PM")[: len(text) // 2]
        elif kind == "date":
            beside = "".join(units[:at])[-1:] + "".join(units[at + 1 :])[:1].upper()
            is_minute = units[at] == "m" and ("h" in beside or "S" in beside)
            yield _date_piece(moment, "M" * len(text) if is_minute else text.lower(), is_half)
        else:
            yield text


def _date_piece(moment: datetime, unit: str, is_half: bool) -> str:
    """A part of a date or time; minutes are `M`."""
    whole, _, part = unit.partition(".")
    hour = (moment.hour - 1) % 12 + 1 if is_half else moment.hour
    month, day = _MONTHS[moment.month - 1], _DAYS[moment.weekday()]
    number = {"m": moment.month, "M": moment.minute, "d": moment.day, "h": hour, "s": moment.second}
    match whole[0], len(whole):
        case "y" | "e", length:
            return f"{moment.year:04}"[2 if length <= 2 and whole[0] == "y" else 0 :]
        case "m", length if length > 2:
            return {3: month[:3], 5: month[0]}.get(length, month)
        case "d", length if length > 2:
            return day[:3] if length == 3 else day
    shown = str(number[whole[0]]).zfill(min(len(whole), 2))
    return f"{shown}.{moment.microsecond:06}"[: len(shown) + 1 + len(part)] if part else shown
