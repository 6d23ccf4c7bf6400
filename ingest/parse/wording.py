"""How formats write the same words: marks, numbers before headings, terms, and words folded to compare.

One rule for all formats: `10⁶` is 106 in none of them, and HTML and PDF agree on numbers. A heading loses its
number, and never a word: where nothing but a space parts the two and what follows is written small ("10
minutes to go", "Part of the whole"), it is a phrase and stays.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

BOXES = {True: "[x]", False: "[ ]"}
"""Check boxes by whether they are ticked, as Markdown writes them."""

_FIGURE = re.compile(r"\[Figure: [^\]\n]*\]")
_ROUND = str.maketrans("[]", "()")

COUNTED = "data-number"
"""Attribute of an item in markup that was made of a document, whose program counts it: `4.2`, `(a)`."""

_SIGNS = "0123456789+-\u2212=()"
_RAISED = str.maketrans(_SIGNS, "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079⁺⁻⁻⁼⁽⁾")
_LOWERED = str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
"""Letters have such signs, too, by which no search finds them."""

SIGN = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
SIGNS_MEET = re.compile(rf"(?<={SIGN})[ \t]*\n[ \t]*(?={SIGN})")
"""Where two lines of Chinese or Japanese meet: no blank parts them (CSS Text 3, 4.1.3)."""

_NUMERAL = re.compile(r"[+\-\u2212]?\d+[+\-\u2212]?|[+\-\u2212]")
_SET_SMALL = re.compile(r"st|nd|rd|th|er|re|[èe]me|os|as|\(?(?:tm|sm)\)?|\([rc]\)", re.IGNORECASE)
"""What is raised for looks alone: 21st, 1er, Acme (tm)."""

_WORDS = re.compile(r"[^\W_\u2070-\u209c\u00b9\u00b2\u00b3]")
"""No sign alone, and no numeral that is small already."""

_PROSE = re.compile(r"[^\W\d_]{2,}[\s,;:]+[^\W\d_]{2,}")
_AROUND_MARK = "[]() \t\n\u00a0"
_STYLES = {"a": 97, "A": 65}
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def show_figure(words: str) -> str:
    """Return what a picture shows, as it stands in the text around: `[Figure: words]`."""
    return f"[Figure: {words.translate(_ROUND)}]"


def without_figures(text: str) -> str:
    """Return a text without what its pictures show, which no reader sees as words."""
    return _FIGURE.sub(" ", text)


def raised(text: str) -> str:
    """Return text that is set above the line, as it stands behind what is before it: `⁶`, `^x`, `^(x+1)`."""
    return _shifted(text, "^", _RAISED)


def lowered(text: str) -> str:
    """Return text that is set below the line: `₂`, `_i`, `_(i+1)`."""
    return _shifted(text, "_", _LOWERED)


def note_mark(text: str) -> str:
    """Return what leads to a note so that it joins no number: `[12]`, be it `12`, `(12)` or `[12]`."""
    mark = text.strip(_AROUND_MARK)
    return f"[{mark}]" if mark else ""


def item_number(number: int, style: str = "1") -> str:
    """Return the number of an item of a list as it is shown: `4.`, `d.`, `IV.`.

    Args: style: `1`, `a`, `A`, `i` or `I`, as HTML has it; what a style cannot show is shown in digits.
    """
    if style in _STYLES and number > 0:
        return _letters(number, _STYLES[style]) + "."
    if style in {"i", "I"} and 0 < number < 4000:
        roman = _roman(number)
        return (roman if style == "i" else roman.upper()) + "."
    return f"{number}."


def _shifted(text: str, sign: str, signs: dict[int, int]) -> str:
    bare = text.strip()
    if _NUMERAL.fullmatch(bare):
        return bare.translate(signs)
    if not _WORDS.search(bare) or _SET_SMALL.fullmatch(bare) or bare[0] == "[" or _PROSE.search(bare):
        return bare
    is_one = bare.isalnum() or (bare[0] == "(" and bare.find(")") == len(bare) - 1)
    return f"{sign}{bare}" if is_one else f"{sign}({bare})"


def _letters(number: int, first: int) -> str:
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(first + place) + letters
    return letters


def _roman(number: int) -> str:
    found = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        found += sign * times
    return found


_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = rf"(?:twenty|thirty|forty|fifty)[- ]?(?:{_UNITS})?"
# Numerals as they are written, so that "Civil" is none.
_ROMAN_NUMBER = r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
_ORDINAL = rf"(?:{_TENS}|{_TEENS}|{_UNITS}|[0-9]{{1,3}}|{_ROMAN_NUMBER}|[a-z])"
_DIVISION = r"(?:chapter|appendix|part|section|annex)"
# A hyphen that touches the number is part of it ("Appendix A-1", "Section 3-way").
_DASH = r"\s*[\u2013\u2014]\s*|\s+-\s+|-\s+"
_NUMBERED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_DIVISION}\s+{_ORDINAL}(?:\.\d+)*(?:{_DASH}|[.:]\s*|\s+)",
        rf"(?:\d+|[a-z])(?:\.\d+)+\.?(?:{_DASH}|\s+)",
        rf"\d{{1,2}}\.?(?:{_DASH}|\s+)",
    )
)
_GROUPS = re.compile(rf"{_DIVISION}\s+\d{{2}}(?:[ \u00a0]\d{{2}}){{1,3}}(?:\.\d+)*\s", re.IGNORECASE)
"""A number in groups, as sections of specifications have: it is the name of the section, and stays whole."""

_DOTTED = re.compile(r"[A-Za-z0-9]+(?:\.\d+)+\s*")
_ALONE = re.compile(rf"(?:{_DIVISION}|(?:{_DIVISION}\s+)?{_ORDINAL}|[A-Z]?[\d.]+)", re.IGNORECASE)


def strip_numbering(title: str) -> str:
    """Take what numbers a title off its front, unless nothing else would be left; spaces are single ones."""
    rest = after_number(title)
    return title if _is_phrase(title.removesuffix(rest), rest) else rest


def after_number(title: str) -> str:
    """What comes after a number at the front of a title, be it of a phrase; all of it where there is none."""
    if _GROUPS.match(title):
        return title
    matches = (pattern.match(title) for pattern in _NUMBERED)
    end = next((match.end() for match in matches if match), 0)
    return title[end:] if any(char.isalnum() for char in title[end:]) else title


def _is_phrase(number: str, rest: str) -> bool:
    if not number:
        return False
    if number[0].isdigit() and not next((char for char in rest if char.isalnum()), "").isalpha():
        return True  # a version with its date, or a range: "2.31.0 (2023-05-22)", "2 - 4 players"
    return rest[:1].islower() and number.rstrip()[-1:].isalnum() and not _DOTTED.fullmatch(number)


def dotted_number(title: str) -> str:
    """The number of several parts at the front of a title: "4.2" of "4.2 Set-off" and "Part 4.2: Set-off"."""
    found = _DOTTED.search(title.removesuffix(after_number(title)))
    return found[0].strip() if found else ""


def is_bare_number(text: str) -> bool:
    """Whether *text* is nothing but a number as headings carry it: "CHAPTER", "ONE", "3.1.11"."""
    return bool(_ALONE.fullmatch(text.strip().rstrip(".:")))


MAX_NAME = 80
"""Code points; what is longer says something and names nothing."""

MAX_TERMS = 3
"""Terms of one entry that its name has: the short and the long form of an option, or a synonym."""

_FLAGS = re.compile(r"(?<![\w-])--?[A-Za-z0-9?#][\w?-]*")
_KIND = re.compile(
    r"^(?:(?:abstract|async|class|classmethod|command|enum|exception|final|function|method|module|property|static|"
    r"staticmethod|struct|type|union)\s+)+(?=\S)"
)
_REST = re.compile(r"\s*(?:\(|\[|=|\{|…|\.\.\.|:(?=\s)|\s<|\s(?:-|–|—)\s|\n).*", re.DOTALL)
"""Parameters, values, types, or what it is for."""

_COMMAND = re.compile(r"([\w.]+\()\s*(?=[A-Z]{2}|<)([^,]+)\)")
_PARAMETER = re.compile(r"<[^<>]*>|\[[^][]*\]")
_KEYWORD = re.compile(r"[A-Z][A-Z\d_]+")
_MAX_KEYWORDS = 2
"""Of `file(ARCHIVE_CREATE OUTPUT <archive> PATHS <paths>...)` what is further behind are mere options."""

_SAID = re.compile(r"\s+\(")
"""How a sign is read aloud: `: (a colon)`."""


def name_entry(terms: Iterable[str]) -> str:
    """Return the name of the entry that *terms* open; "" where they are none.

    `-n` and `--dry-run` give "-n, --dry-run"; `class shop.Cart(items)` gives "shop.Cart", `port (integer)`
    gives "port", and `mapfile [-d delim] [array]` gives "mapfile". `file(GLOB <variable> [RELATIVE <path>])`
    gives "file(GLOB)": the words that must be typed tell subcommands apart.
    """
    names = [name for name in dict.fromkeys(map(name_term, terms)) if name]
    while names and len(", ".join(names[:MAX_TERMS])) > MAX_NAME:
        names.pop()
    return ", ".join(names[:MAX_TERMS])


def name_term(term: str) -> str:
    """Return the name in one term; "" for a sentence."""
    text = term.strip()
    if text.startswith("-") and (flags := _FLAGS.findall(text)):
        return ", ".join(dict.fromkeys(flags[:MAX_TERMS]))
    bare = without_kind(text)
    name = _subcommand(bare) or _cut(bare, _REST)
    if not any(map(str.isalnum, name)):  # a sign, or a pattern of signs
        name = _cut(bare, _SAID)
    name = name.rstrip(":,;") or name
    return name if len(name) <= MAX_NAME else ""


def _subcommand(text: str) -> str:
    """A command with the first capital words that are no parameter; "" where there are none."""
    command = _COMMAND.fullmatch(text)
    if command is None:
        return ""
    typed, found = command[2], 1
    while found:
        typed, found = _PARAMETER.subn(" ", typed)
    keywords = list(filter(_KEYWORD.fullmatch, typed.split()))[:_MAX_KEYWORDS]
    return f"{command[1]}{' '.join(keywords)})" if keywords else ""


def _cut(text: str, at: re.Pattern[str]) -> str:
    rest = at.search(text, 1)
    return " ".join(text[: rest.start() if rest else None].split())


def without_kind(text: str) -> str:
    """A signature without the words before its name: `shop.Cart(items)` of `class shop.Cart(items)`."""
    return _KIND.sub("", text)


UNSHOWN = frozenset(["script", "style", "template", "title", "iframe", "noframes", "noembed"])
"""Elements whose text browsers never show. Source: WHATWG HTML, 15.3.1 and 4.8.5."""

_RUN_ON = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp "
    "small span strike strong sub sup time tt u var"
)
RUN_ON = frozenset(_RUN_ON.split())
"""Elements within which a word may go on, since browsers lay them out in the line. Source: CSS 2.2, D."""

_SPACED = "".join(
    chr(code) if code > 127 else chr(code).lower() if chr(code).isalnum() or code == ord("_") else " "
    for code in range(256)
).encode("latin-1")
"""Bytes of UTF-8 in lower case, with a space for each ASCII sign that is in no word."""

_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_NO_WORD = re.compile(r"[^\x00-\x7f\w]")
_ONE_SIGN = re.compile(SIGN)
_FOLD = "sitegraph.fold"


def fold_words(text: str) -> str:
    """Return the words of a text in lower case, with single spaces between them.

    Chinese and Japanese have no space between words, so each of their signs counts as one. Signs without
    width are in no word, and what Unicode calls compatible is equal: `10\u2076` is `106`.
    """
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    # An encoder hands over what is not ASCII, of which there is little, many times faster than a search.
    spaced = text.encode("ascii", _FOLD).translate(_SPACED)
    return b" ".join(spaced.split()).decode("utf-8", "surrogatepass")


def count_folded(folded: str) -> int:
    """Count the words of what `fold_words` gave."""
    return folded.count(" ") + 1 if folded else 0


def rest_of(text: str, part: str) -> str:
    """Return the words of a text that are not in a part of it, in any order."""
    words = Counter(fold_words(text).split())
    return " ".join((words - Counter(fold_words(part).split())).elements())


def _fold_beyond(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    return _folded(error.object[error.start : error.end]), error.end


@lru_cache(maxsize=1024)
def _folded(written: str) -> bytes:
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", written)).casefold()
    return _ONE_SIGN.sub(r" \g<0> ", _NO_WORD.sub(" ", folded)).encode("utf-8", "surrogatepass")


codecs.register_error(_FOLD, _fold_beyond)
