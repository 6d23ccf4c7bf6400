"""Numbers of spreadsheets as their cells show them, by number format (ECMA-376-1, 18.8.30 and 18.8.31).

What a format leaves to the system of the reader is written without one: dates as ISO 8601, names in English.
"""

import re
from collections.abc import Iterator, Mapping
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
    r"|(?P<half>AM/PM|A/P)|(?P<power>E[+-]0+)|(?P<date>[ye]+|m+|d+|h+|s+(?:\.0+)?)|(?P<place>[0#?.,%/])"
    r"|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CURRENCY = re.compile(r"\$([^-]*)")
_CONDITION = re.compile(r"\[[<>=]")
"""A format that says itself for which numbers its parts are; none of 222 workbooks had one."""

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

Pieces = tuple[tuple[str, str], ...]
"""What a part of a format consists of, as (kind, text)."""


def show_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return what a cell with a number shows; if its format cannot show it, the number.

    Args: code: the format as the file has it. since_1904: days are counted from 1904-01-01.
    """
    sections = _sections(code)
    number = 1 if value < 0 else 2 if value == 0 else 0
    pieces = sections[number] if number < len(sections) else sections[0]
    sign = "-" if value < 0 and len(sections) == 1 else ""
    try:
        shown = "".join(_shown(value, pieces, since_1904))
    except (ArithmeticError, ValueError):
        return _general(value)
    return " ".join(f"{sign if re.search('[1-9]', shown) else ''}{shown}".split())


def is_date_format(code: str) -> bool:
    """Whether a format shows numbers as dates or times."""
    return any(kind in {"date", "elapsed"} for kind, _ in _sections(code)[0])


def _shown(value: float, pieces: Pieces, since_1904: bool) -> Iterator[str]:
    kinds = {kind for kind, _ in pieces}
    if kinds & {"date", "elapsed"}:
        return _date_pieces(value, pieces, _FROM_1904 * since_1904)
    if "general" in kinds:
        return (_general(abs(value)) if kind == "general" else text for kind, text in pieces)
    return _number_pieces(Decimal(repr(abs(value))), pieces)


@lru_cache(maxsize=1_024)
def _sections(code: str) -> tuple[Pieces, ...]:
    """The parts for positive and negative numbers and zero."""
    code = "General" if not code or _CONDITION.search(code) else code
    return tuple(tuple(_pieces(found[1] or '""')) for found in _SECTION.finditer(f"{code};"))[:3]


def _pieces(code: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(code):
        kind = found.lastgroup or ""
        if kind == "bracket":
            yield _bracket(found[kind])
        elif kind in {"quoted", "escaped", "other"}:
            yield "literal", found[kind]
        elif kind != "space":
            yield kind, found[kind]


def _bracket(text: str) -> tuple[str, str]:
    """A time that goes on beyond a day, a currency, or nothing that is shown: a colour."""
    currency = _CURRENCY.match(text)
    return ("elapsed", text) if _ELAPSED.fullmatch(text) else ("literal", currency[1] if currency else "")


def _general(value: float) -> str:
    if abs(value) < _WHOLE and value == int(value):
        return str(int(value))
    return format(value, _GENERAL if abs(value) < _LONG else ".15g").upper()


def _number_pieces(value: Decimal, pieces: Pieces) -> Iterator[str]:
    places = "".join(text.upper() for kind, text in pieces if kind in {"place", "power"})
    if "/" in places:
        raise ValueError(places)
    mantissa, power, _ = places.replace("%", "").partition("E")
    whole, _, part = mantissa.partition(".")
    thousands = sum(len(text) - len(text.rstrip(",")) for text in (whole, part))
    slots, parts = whole.replace(",", ""), part.replace(",", "")
    scaled = value * 100 ** places.count("%") / 1_000**thousands
    rounded, exponent = _rounded(scaled, len(parts), max(len(slots), 1) if power else 0)
    above, _, below = f"{rounded:f}".partition(".")
    before = _filled(slots, above.lstrip("0"), is_grouped="," in whole.strip(","))
    kept = max(len(below.rstrip("0")), parts.rfind("0") + 1)
    digits = iter((*before, *below[:kept].ljust(len(parts))))
    for kind, text in pieces:
        if kind == "power":
            yield f"E{exponent:+0{len(text) - 1}}"
        elif kind != "place" or text == "%":
            yield text
        elif text == ".":
            yield "." if slots else f"{above.lstrip('0')}."
        elif text != ",":
            yield next(digits).strip()


def _rounded(value: Decimal, decimals: int, step: int) -> tuple[Decimal, int]:
    """A number in as many decimals, and the power of ten, a multiple of *step*, to multiply it with."""
    exponent = value.adjusted() // step * step if step and value else 0
    found = value.scaleb(-exponent).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    if step and found >= 10**step:
        return _rounded(found.scaleb(exponent), decimals, step)
    return found, exponent


def _filled(slots: str, digits: str, *, is_grouped: bool) -> Iterator[str]:
    """What each place before the point shows; digits for which there is none stand at the first."""
    shown = digits.zfill(len(slots.lstrip("#?")))
    shown = (re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", shown) if is_grouped else shown).rjust(len(slots))
    surplus = len(shown) - len(slots) + 1
    yield from (shown[:surplus], *shown[surplus:]) if slots else ()


def _date_pieces(days: float, pieces: Pieces, before: int) -> Iterator[str]:
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
    month, day = _MONTHS[moment.month - 1], _DAYS[moment.weekday()]
    hour = (moment.hour - 1) % 12 + 1 if is_half else moment.hour
    number = {"m": moment.month, "M": moment.minute, "d": moment.day, "h": hour, "s": moment.second}
    names = {"mmm": month[:3], "mmmm": month, "mmmmm": month[0], "ddd": day[:3], "dddd": day}
    if whole[0] in "ye":
        return f"{moment.year:04}"[2 if whole in ("y", "yy") else 0 :]
    shown = names.get(whole) or f"{number[whole[0]]:0{min(len(whole), 2)}}"
    return f"{shown}.{moment.microsecond:06}"[: len(shown) + 1 + len(part)] if part else shown
