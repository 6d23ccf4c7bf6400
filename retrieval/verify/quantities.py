"""Numbers of a text with their units, in any form; places in an order; what a question measures."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from retrieval.question.words import stems
from retrieval.verify.clauses import ORDINALS, SMALL_NUMBERS, TENS, split_sentences


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


def _read_units(table: str) -> dict[str, Unit]:
    """Read lines such as `time: second seconds 1, minute minutes 60`: names, and a factor."""
    units: dict[str, Unit] = {}
    for line in table.strip().splitlines():
        measures, _, listed = line.partition(":")
        for one in listed.split(","):
            *names, factor = one.split()
            units |= dict.fromkeys(names, Unit(measures=measures.strip(), factor=float(factor)))
    return units


_WORDS = _read_units("""
    time: millisecond milliseconds 1e-3, microsecond microseconds 1e-6, second seconds sec secs 1
    time: minute minutes min mins 60, hour hours hr hrs 3600, day days 86400, week weeks 604800
    calendar: month months 1, year years yr yrs 12, decade decades 120
    length: millimetre millimetres millimeter millimeters 1e-3
    length: centimetre centimetres centimeter centimeters 1e-2, metre metres meter meters 1
    length: kilometre kilometres kilometer kilometers 1e3
    length: inch inches 0.0254, foot feet ft 0.3048, mile miles 1609.344
    mass: milligram milligrams 1e-3, gram grams 1, kilogram kilograms kilo kilos 1e3, tonne tonnes 1e6
    mass: pound pounds lb lbs 453.59237
    volume: millilitre millilitres milliliter milliliters 1e-3, litre litres liter liters 1
    area: hectare hectares ha 1e4
    percent: percent 1
    power: watt watts 1, kilowatt kilowatts 1e3, megawatt megawatts 1e6
    voltage: volt volts 1
    current: ampere amperes amp amps 1
    frequency: hertz 1
    data: bit bits 0.125, byte bytes 1, kilobyte kilobytes 1e3, megabyte megabytes 1e6
    data: gigabyte gigabytes 1e9, terabyte terabytes 1e12
    EUR: euro euros eur 1
    USD: dollar dollars usd 1
    GBP: gbp sterling 1
    CHF: chf francs 1
""")
_SYMBOLS = _read_units("""
    time: ns 1e-9, µs us 1e-6, ms 1e-3, s 1, h 3600, d 86400
    length: nm 1e-9, µm um 1e-6, mm 1e-3, cm 1e-2, m 1, km 1e3
    mass: mg 1e-3, g 1, kg 1e3, t 1e6
    volume: ml mL 1e-3, l L 1, m³ m3 1e3
    area: m² m2 1, km² km2 1e6
    percent: % % 1
    temperature C: °C ℃ 1
    temperature F: °F ℉ 1
    pressure: Pa 1, hPa 1e2, kPa 1e3, MPa 1e6, mbar 1e2, bar 1e5, mmHg 133.322, psi 6894.757
    power: mW 1e-3, W 1, kW 1e3, MW 1e6, GW 1e9
    voltage: mV 1e-3, V 1, kV 1e3
    current: mA 1e-3, A 1
    charge: mAh 1e-3, Ah 1
    energy: Wh 1, kWh 1e3, MWh 1e6
    frequency: Hz 1, kHz 1e3, MHz 1e6, GHz 1e9
    level: dB 1
    speed mph: mph 1
    data: B 1, KB kB 1e3, MB 1e6, GB 1e9, TB 1e12, PB 1e15
    data: KiB 1024, MiB 1048576, GiB 1073741824, TiB 1099511627776
    data: kbit Kbit 125, Mbit 125e3, Gbit 125e6
    EUR: € 1
    USD: $ 1
    GBP: £ 1
    JPY: ¥ 1
""")
_PHRASES = {
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


_TENTHS = {f"{name[:-1]}ieth": 10 * value for value, name in enumerate(TENS, start=2)}
_UNITS = {name: value for value, name in enumerate(ORDINALS, start=1)}
_FIGURES = re.compile(r"(?<![\w.,-])(\d+)(?:st|nd|rd|th)(?!\w)", re.IGNORECASE)
_ORDINALS = re.compile(
    rf"\b(?:(?:({'|'.join(TENS)})-)?({'|'.join(ORDINALS)})|({'|'.join(_TENTHS)}))\b", re.IGNORECASE
)
_TELLING = 3
"""The first may be meant in time, and a second is a unit too."""


def missing_ordinals(said: str, stated: str, numbers: Collection[Quantity]) -> Iterator[str]:
    """Yield the ordinals of one text that the other has neither as such nor as a plain number.

    Where the other text has no ordinal at all, a word for one may mean something else than a place.
    """
    there = {value for _, value in _ordinals(stated)}
    plain = {value for one in numbers if one.unit is None for value in one.values}
    for written, value in _ordinals(said):
        if value not in there | plain and (there or written[0].isdecimal()):
            yield written


def _ordinals(text: str) -> Iterator[tuple[str, float]]:
    for match in _FIGURES.finditer(text):
        yield match[0], float(match[1])
    for match in _ORDINALS.finditer(text):
        tens, unit, tenth = (part.casefold() if part else None for part in match.groups())
        value = _TENTHS[tenth] if tenth else _UNITS[unit or ""] + 10 * (TENS.index(tens) + 2 if tens else 0)
        if value >= _TELLING:
            yield match[0], float(value)


_TIME_OR_DATE = frozenset({"time", "calendar"})
_ANY = frozenset[str]()
_ASKED = (
    (r"how (?:long|soon)\b(?! is the (?:list|text|name|line))", _TIME_OR_DATE | {"length"}),
    (r"how often\b|how frequently\b", frozenset({"rate"})),
    (r"how (?:many|much)\b", _ANY),
    (r"how (?:old|recent)\b", _TIME_OR_DATE),
    (r"how (?:far|tall|high|wide|deep|thick)\b", frozenset({"length"})),
    (r"how (?:big|large|small|heavy|fast|hot|cold|loud|strong)\b", _ANY),
)
"""Questions by their first words, and what an answer measures; nothing stands for any number."""
_INSTEAD = {
    "time": r"\b(?:until|till|forever|indefinite(?:ly)?|permanent(?:ly)?|as long as"
    r"|for the (?:life|rest|duration)|immediate(?:ly)?|at once|(?:over|all) ?night)\b",
    "rate": r"\b(?:every|each|per|once|twice|times|always|never|whenever"
    r"|(?:half-?)?(?:hour|night|week|month|quarter|year)ly|daily|annual(?:ly)?)\b",
    "": r"\d|\b(?:unlimited|no limit|none|zero|one|both|any number|as (?:many|much) as|half|all)\b",
}
"""What answers without a number: until the server stops, nightly, as many as there are."""
_SAYS_NOTHING = stems(
    "long soon often frequently many much old recent far tall high wide deep thick big large"
)


def measure_asked(question: str) -> frozenset[str] | None:
    """Return what an answer to *question* measures, an empty set for any number, else None.

    >>> sorted(measure_asked("How long are backups kept?"))
    ['calendar', 'length', 'time']
    >>> measure_asked("How are backups kept?") is None
    True
    """
    asked = question.strip()
    return next((unit for words, unit in _ASKED if re.search(rf"\b(?:{words})", asked, re.IGNORECASE)), None)


def says_measure(question: str, texts: Collection[str]) -> bool:
    """Whether a sentence of *texts* says what *question* measures and shares a word with it.

    True of every question that measures nothing: who, where, which.
    """
    wanted = measure_asked(question)
    if wanted is None:
        return True
    about = stems(question) - _SAYS_NOTHING
    sentences = (one for text in texts for one in split_sentences(text))
    return any(_measures(one, wanted) for one in sentences if not about or about & stems(one))


def _measures(sentence: str, wanted: frozenset[str]) -> bool:
    words = [_INSTEAD[one] for one in (wanted or {""}) if one in _INSTEAD]
    if any(re.search(one, sentence, re.IGNORECASE) for one in words):
        return True
    found = find_quantities(sentence)
    return any(not wanted or (one.unit is not None and one.unit.measures in wanted) for one in found)
