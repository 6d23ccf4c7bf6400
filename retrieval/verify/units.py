"""Units of measure as technical texts write them: which measure one the same thing, and by what factor."""

import re
from dataclasses import dataclass

_TIME, _CALENDAR, _LENGTH, _MASS, _VOLUME = "time", "calendar", "length", "mass", "volume"
_PRESSURE, _DATA, _AREA = "pressure", "data", "area"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a unit measures, how many of the base unit it is, and by what it is counted: km per hour."""

    measures: str
    factor: float
    per: "Unit | None" = None

    def ratio(self, other: "Unit") -> float | None:
        """Return how many of *other* one of this is, None where they measure different things.

        What is counted by nothing may be counted by anything: 80 kg of something per hectare.
        """
        if self.measures != other.measures:
            return None
        if self.per is None or other.per is None:
            return self.factor / other.factor
        rate = self.per.ratio(other.per)
        return None if rate is None else self.factor / other.factor / rate


def _named(measures: str, *names: tuple[str, float]) -> dict[str, Unit]:
    return {
        name: Unit(measures=measures, factor=factor) for written, factor in names for name in written.split()
    }


_WORDS: dict[str, Unit] = {
    **_named(
        _TIME,
        ("millisecond milliseconds", 1e-3),
        ("microsecond microseconds", 1e-6),
        ("second seconds sec secs", 1),
        ("minute minutes min mins", 60),
        ("hour hours hr hrs", 3600),
        ("day days", 86400),
        ("week weeks", 604800),
    ),
    **_named(_CALENDAR, ("month months", 1), ("year years yr yrs", 12), ("decade decades", 120)),
    **_named(
        _LENGTH,
        ("millimetre millimetres millimeter millimeters", 1e-3),
        ("centimetre centimetres centimeter centimeters", 1e-2),
        ("metre metres meter meters", 1),
        ("kilometre kilometres kilometer kilometers", 1e3),
        ("inch inches", 0.0254),
        ("foot feet ft", 0.3048),
        ("mile miles", 1609.344),
    ),
    **_named(
        _MASS,
        ("milligram milligrams", 1e-3),
        ("gram grams", 1),
        ("kilogram kilograms kilo kilos", 1e3),
        ("tonne tonnes", 1e6),
        ("pound pounds lb lbs", 453.59237),
    ),
    **_named(
        _VOLUME, ("millilitre millilitres milliliter milliliters", 1e-3), ("litre litres liter liters", 1)
    ),
    **_named(_AREA, ("hectare hectares ha", 1e4)),
    **_named("percent", ("percent", 1)),
    **_named("power", ("watt watts", 1), ("kilowatt kilowatts", 1e3), ("megawatt megawatts", 1e6)),
    **_named("voltage", ("volt volts", 1)),
    **_named("current", ("ampere amperes amp amps", 1)),
    **_named("frequency", ("hertz", 1)),
    **_named(_DATA, ("bit bits", 1 / 8), ("byte bytes", 1)),
    **_named(
        _DATA,
        ("kilobyte kilobytes", 1e3),
        ("megabyte megabytes", 1e6),
        ("gigabyte gigabytes", 1e9),
        ("terabyte terabytes", 1e12),
    ),
    **_named("EUR", ("euro euros eur", 1)),
    **_named("USD", ("dollar dollars usd", 1)),
    **_named("GBP", ("gbp sterling", 1)),
    **_named("CHF", ("chf francs", 1)),
}

_SYMBOLS: dict[str, Unit] = {
    **_named(_TIME, ("ns", 1e-9), ("µs us", 1e-6), ("ms", 1e-3), ("s", 1), ("h", 3600), ("d", 86400)),
    **_named(_LENGTH, ("nm", 1e-9), ("µm um", 1e-6), ("mm", 1e-3), ("cm", 1e-2), ("m", 1), ("km", 1e3)),
    **_named(_MASS, ("mg", 1e-3), ("g", 1), ("kg", 1e3), ("t", 1e6)),
    **_named(_VOLUME, ("ml mL", 1e-3), ("l L", 1), ("m³ m3", 1e3)),
    **_named(_AREA, ("m² m2", 1), ("km² km2", 1e6)),
    **_named("percent", ("% %", 1)),
    **_named("temperature C", ("°C ℃", 1)),
    **_named("temperature F", ("°F ℉", 1)),
    **_named(
        _PRESSURE,
        ("Pa", 1),
        ("hPa", 1e2),
        ("kPa", 1e3),
        ("MPa", 1e6),
        ("mbar", 1e2),
        ("bar", 1e5),
        ("mmHg", 133.322),
        ("psi", 6894.757),
    ),
    **_named("power", ("mW", 1e-3), ("W", 1), ("kW", 1e3), ("MW", 1e6), ("GW", 1e9)),
    **_named("voltage", ("mV", 1e-3), ("V", 1), ("kV", 1e3)),
    **_named("current", ("mA", 1e-3), ("A", 1)),
    **_named("charge", ("mAh", 1e-3), ("Ah", 1)),
    **_named("energy", ("Wh", 1), ("kWh", 1e3), ("MWh", 1e6)),
    **_named("frequency", ("Hz", 1), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)),
    **_named("level", ("dB", 1)),
    **_named("speed mph", ("mph", 1)),
    **_named(_DATA, ("B", 1), ("KB kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("PB", 1e15)),
    **_named(_DATA, ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)),
    **_named(_DATA, ("kbit Kbit", 125), ("Mbit", 125e3), ("Gbit", 125e6)),
    **_named("EUR", ("€", 1)),
    **_named("USD", ("$", 1)),
    **_named("GBP", ("£", 1)),
    **_named("JPY", ("¥", 1)),
}
_PHRASES: dict[str, Unit] = {
    "per cent": _WORDS["percent"],
    "percentage points": Unit(measures="percentage points", factor=1),
    "degrees celsius": _SYMBOLS["°C"],
    "degrees fahrenheit": _SYMBOLS["°F"],
    "cubic metres": _SYMBOLS["m³"],
    "square metres": _SYMBOLS["m²"],
}


def _either(names: list[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))


_ANY_CASE = _either([*_PHRASES, *_WORDS])
UNIT = rf"(?:(?i:{_ANY_CASE})(?!\w)|(?:{_either(list(_SYMBOLS))})(?![\w²³]))"
"""A pattern of one unit; symbols keep their case, since mW is not MW."""
CURRENCY = "[€$£¥]"
DIGITS = r"(?:\d{1,3}(?:[,’'_\u202f\u00a0\u2009]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)"
"""A pattern of one number in digits, its thousands parted or not."""
DURATION = "(?i:second|minute|hour|day|week|month|year|decade)"
"""A pattern of the units that "a" may count."""


def unit_of(written: str) -> Unit:
    """Return the unit of what `UNIT` or `CURRENCY` matched."""
    folded = " ".join(written.casefold().split())
    return _SYMBOLS.get(written) or _WORDS.get(folded) or _PHRASES[folded]
