"""Mathematics in a line of print: fonts made for it, and characters that nothing else uses."""

import re
import unicodedata
from functools import cache

_FONT = re.compile(
    r"(?:CM(?:MI|SY|EX|BSY)|MS[AB]M|EU[FRS]M|RSFS|LM(?:Math|MI|SY|EX)|[rt]?[pt]x(?:mi|sy|ex)|NewTX|MT(?:MI|SY|EX|-?Extra)"
    r"|STIXGeneral-(?:Italic|NonUni|Size)|STIX\w*Math|KaTeX_(?:Math|AMS|Size|Cal)|MathJax|Pazo|esint|bbm|dsrom)"
    r"|\w*Math\b",
    re.IGNORECASE,
)
_GREEK = re.compile(r"[\u0391-\u03c9\u03d1\u03d5\u03f5]")


@cache
def is_math_font(name: str) -> bool:
    """Whether a font has been made for mathematics; *name* as in the file, without a subset's prefix."""
    return bool(_FONT.match(name))


def count_math(text: str, *, in_math_font: bool) -> int:
    """Count the characters that speak of mathematics; those of ASCII do so by their font alone."""
    if text.isascii() and not in_math_font:
        return 0
    return sum(
        in_math_font
        or (not char.isascii() and (unicodedata.category(char) == "Sm" or bool(_GREEK.match(char))))
        for char in text
        if not char.isspace()
    )
