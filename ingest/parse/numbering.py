"""Numbers before headings: "Chapter 3.", "PART III - ", "3.2 "; one rule, so that HTML and PDF agree.

A heading loses its number, and never a word: where nothing but a space parts the two and what follows is
written small ("10 minutes to go", "Part of the whole"), it is a phrase and stays.
"""

import re

_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = rf"(?:twenty|thirty|forty|fifty)[- ]?(?:{_UNITS})?"
# Numerals as they are written, so that "Civil" is none.
_ROMAN = r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
_ORDINAL = rf"(?:{_TENS}|{_TEENS}|{_UNITS}|[0-9]{{1,3}}|{_ROMAN}|[a-z])"
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


def is_numbering(text: str) -> bool:
    """Whether *text* is nothing but a number as headings carry it: "CHAPTER", "ONE", "3.1.11"."""
    return bool(_ALONE.fullmatch(text.strip().rstrip(".:")))
