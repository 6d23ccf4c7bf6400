"""Marks that change what is read, as plain text: raised and lowered signs, marks of notes, boxes, numbers.

One rule for all formats, so that `10⁶` is 106 in none of them.
"""

import re

BOXES = {True: "[x]", False: "[ ]"}
"""Check boxes by whether they are ticked, as Markdown writes them."""

COUNTED = "data-number"
"""Attribute of an item in markup that was made of a document, whose program counts it: `4.2`, `(a)`."""

_SIGNS = "0123456789+-\u2212=()"
_RAISED = str.maketrans(_SIGNS, "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079⁺⁻⁻⁼⁽⁾")
_LOWERED = str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
"""Letters have such signs, too, by which no search finds them."""

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
