"""What of a text must be found in another: dates, numbers, identifiers, quotations, names."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from retrieval.question.words import STOP_WORDS
from retrieval.verify.clauses import MONTHS, OPENERS
from retrieval.verify.quantities import CURRENCY, DIGITS, UNIT, Quantity, find_quantities

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


_QUOTED = re.compile(r"[\"“”„«]([^\"“”„«»]+)[\"“”»]|`([^`]+)`|‘([^‘’]+)’")
_TOKEN = re.compile(r"[^\s,;()\[\]{}<>\"“”„«»‘`!?|]+")
_TRIM = ".:’'…*"
_PLAIN_NUMBER = re.compile(
    rf"[-−+±~]?{CURRENCY}?{DIGITS}(?:[-–—/]{DIGITS})?(?:-?{UNIT}(?:/{UNIT})?)?{CURRENCY}?|\d+-[a-z-]+"
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)")
_CODE = re.compile(
    r"""(?=.*[0-9])(?=.*[A-Za-z^]).+          # E04, VX-210, 2^20, 3.8.1b
      | .*\d[.:]\d+[.:]\d.*|\d{1,2}:\d{2}     # 3.8.1, 192.168.0.1, 22:00
      | .*\w[_=@\\]\w.*                       # max_sessions, sync_mode=lazy
      | \w{2,}(?:\.\w{2,})+                   # config.toml, os.path
      | --?[A-Za-z][\w=-]*|~?/\w.*|\w+://.*   # --lenient, /etc/fstab
      | [a-z]+[A-Z]\w*                        # maxSessions
    """,
    re.VERBOSE,
)
_NAME = re.compile(r"(?<![\w.@/=-])[A-ZÀ-ÖØ-Þ][\w’'&-]*")
_STRONG = re.compile(r"(?=[^A-Z]*[A-Z][^A-Z]*[A-Z]|\D*\d)\w+")
_DASHES = re.compile(r"[\u2010-\u2015\u2212]")
_NO_NAMES = STOP_WORDS | OPENERS
_PRONOUNS = frozenset({"I", "I'm", "I’m", "OK"})


def fold_signs(text: str) -> str:
    """Fold case, dashes, quotes and white space, to look for what was taken over."""
    return " ".join(_DASHES.sub("-", text).replace("’", "'").casefold().split())


def holds(text: str, part: str) -> bool:
    """Whether folded *text* has *part* as words of their own, in singular or plural."""
    folded = fold_signs(part).removesuffix("'s")
    return any(
        re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text)
        for form in dict.fromkeys((folded, f"{folded}s", folded.removesuffix("s")))
        if form
    )


def find_quotes(text: str) -> tuple[str, ...]:
    """Return what stands in quotation marks or backticks."""
    return tuple(next(filter(None, match.groups())).strip(" .,") for match in _QUOTED.finditer(text))


def find_codes(text: str) -> tuple[str, ...]:
    """Return identifiers, versions, times, flags and paths of *text*: what no dictionary has."""
    return tuple(dict.fromkeys(_codes(text)))


def _codes(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match[0].strip(_TRIM)
        if _PLAIN_NUMBER.fullmatch(token) or _ORDINAL.fullmatch(token):
            continue
        if _CODE.fullmatch(token):
            yield token


def find_proper_names(text: str, *, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the proper names of a sentence, word by word.

    The first word has its capital anyway: it is a name if it has more of them, if another name follows, or
    if it is one of *known*.
    """
    found = [match for match in _NAME.finditer(text) if match[0] not in _PRONOUNS]
    names = []
    for at, match in enumerate(found):
        name = re.sub(r"['’]s$", "", match[0])
        first = not re.search(r"\w", text[: match.start()])
        followed = at + 1 < len(found) and text[match.end() : found[at + 1].start()] == " "
        if first and name.casefold() in _NO_NAMES:
            continue
        if not first or _STRONG.fullmatch(name) or followed or name in known:
            names.append(name)
    return tuple(dict.fromkeys(names))


def opens_only(word: str, sentence: str) -> bool:
    """Whether the first word of a sentence has its capital from there: "Use CREATE TABLE", "Set PGDATA"."""
    opening = re.match(rf"\W*{re.escape(word)}\s+({_NAME.pattern})", sentence)
    return opening is not None and not _STRONG.fullmatch(word) and bool(_STRONG.fullmatch(opening[1]))


def has_name(name: str, text: str, folded: str) -> bool:
    """Whether a text has a name, or what its letters stand for; *folded* is the text's `fold_signs`."""
    if holds(folded, name) or (name[:1].isdigit() and "." in name and holds(folded, f"v{name}")):
        return True
    if name.isupper() and 2 <= len(name) <= 6:
        initials = "".join(word[0] for word in re.findall(r"[A-Za-z]+", text) if word[0].isupper())
        return name in initials
    theirs = set(_NAME.findall(text))
    return any(name in _peoples(other) or other in _peoples(name) for other in theirs)


def _peoples(place: str) -> frozenset[str]:
    """Return what the people of a place may be called: Russian, Italian, German, Chinese."""
    short = place[:-1]
    return frozenset(
        (f"{place}n", f"{place}an", f"{place}ian", f"{short}ian", f"{short}ese", f"{place}ese")
        if len(place) > 3 and not place.isupper()
        else ()
    ) | frozenset({short} if place.endswith("any") else ())


def find_exchanged(sentence: str, text: str, groups: Collection[frozenset[str]]) -> tuple[str, ...]:
    """Return words of *sentence* for which *text* has only others of their group; one excludes the rest."""
    said, stated = (re.findall(r"[a-z]+", one.casefold()) for one in (sentence, text))
    return tuple(
        word
        for group in groups
        for word in dict.fromkeys(said)
        if word in group and word not in stated and group & set(stated)
    )


_MARK = "\N{BULLET}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """What a text states, to compare as characters or values; `rest` is it without dates and amounts."""

    dates: tuple[Date, ...]
    quantities: tuple[Quantity, ...]
    codes: tuple[str, ...]
    quotes: tuple[str, ...]
    rest: str


@lru_cache(maxsize=1024)
def read_facts(text: str) -> TextFacts:
    """Find dates, numbers, identifiers and quotations; what is part of one is none of the others."""
    dates = find_dates(text)
    undated = _blank(text, [(one.start, one.end) for one in dates])
    codes = find_codes(undated)
    quantities = find_quantities(_blank(undated, _spans(undated, codes)))
    return TextFacts(
        dates=dates,
        quantities=quantities,
        codes=codes,
        quotes=find_quotes(text),
        rest=_blank(undated, [(one.start, one.end) for one in quantities if one.unit]),
    )


def _spans(text: str, codes: Iterable[str]) -> Iterator[tuple[int, int]]:
    for code in codes:
        yield from (match.span() for match in re.finditer(rf"(?<!\w){re.escape(code)}(?!\w)", text))


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Put marks in place of what stands at *spans*; offsets stay."""
    for start, end in spans:
        text = text[:start] + _MARK * (end - start) + text[end:]
    return text
