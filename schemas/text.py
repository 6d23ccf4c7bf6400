"""Rules of text that all rooms share: unseen characters, formulas written alike, what the encoder reads."""

import re
from functools import lru_cache

MAX_FORMULAS = 20

_RELATION = re.compile(r"[=≈≠≤≥≡∝∼<>]|:=|[<>]=")
_OPERATOR = re.compile(r"[-+*/^·×÷±−∘⊕∧∨]")
_OPERAND = re.compile(r"[\w.(){}\[\]^′!+*/·×÷±−√∑∏∫∂∇∞⁰¹²³⁴-⁹-]+")
_WORD = re.compile(r"[^\W\d_]{4,}|\b(?!sin|cos|tan|log|exp|max|min|det|lim|mod)[a-z]{3}\b")
"""What stands in sentences: `and = 2 + 3` is none, `PV = nRT · 2` is one."""
_MARK = re.compile(r"[+*/^·×÷±−√∑∏∫∂∇∞⁰¹²³⁴-⁹≈≤≥≡∝Ͱ-Ͽ]")
_POWERS = {ord(sign): f"^{power}" for power, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_END = ".,;:?"
_REACH = 12
"""Words on either side of a relation sign that are looked at."""


def find_formulas(text: str) -> tuple[str, ...]:
    """Return distinct formulas of *text* in order: `E=mc^2` of "where E = mc² holds"; at most MAX_FORMULAS.

    A formula has a relation sign with an operand on either side, a letter, and an operator, a power or a
    mathematical sign; `a = b` alone is an assignment. Spaces go, and powers are written with `^`.
    """
    if _RELATION.search(text) is None:
        return ()
    words = text.split()
    places = (place for place, word in enumerate(words) if not word.isalnum() and _RELATION.search(word))
    found = (_around(words, place) for place in places)
    return tuple(dict.fromkeys(formula for formula in found if formula))[:MAX_FORMULAS]


def _around(words: list[str], place: int) -> str | None:
    """The formula about the relation sign in a word, if there is one."""
    left, sign, right = _parted(words[place])
    before = _operands(words[max(0, place - _REACH) : place][::-1]) if not left else ()
    after = _operands(words[place + 1 : place + 1 + _REACH]) if not right else ()
    if not (left or before) or not (right or after) or _WORD.search(f"{left} {right}"):
        return None
    formula = _balanced("".join((*before[::-1], left, sign, right, *after)).strip(_END))
    whole = re.search(r"[^\W\d_]", formula) and _MARK.search(formula)
    return formula.translate(_POWERS) if whole else None


def _parted(word: str) -> tuple[str, str, str]:
    match = _RELATION.search(word)
    assert match is not None
    return word[: match.start()], match[0], word[match.end() :].rstrip(_END)


def _balanced(formula: str) -> str:
    """Without the bracket that a remark in brackets begins or ends with."""
    missing = formula.count("(") - formula.count(")")
    if missing > 0:
        return formula.removeprefix("(")
    return formula.removesuffix(")") if missing else formula


def _operands(words: list[str]) -> tuple[str, ...]:
    """The longest beginning of *words* that goes operand, operator, operand, and so on."""
    taken: list[str] = []
    for place, word in enumerate(words):
        bare = word.strip(_END)
        fits = _OPERATOR.fullmatch(bare) if place % 2 else _OPERAND.fullmatch(bare)
        if not fits or _WORD.search(bare) or _RELATION.search(bare):
            break
        taken.append(bare)
        if bare != word:
            break
    return tuple(taken[: len(taken) - (len(taken) + 1) % 2])


_NEVER = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # controls, but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction
    "\u2028\u2029"  # separators, which end a line for some programs only
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # joiners, fillers, operators, annotations, musical controls
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags, which spell whole sentences, and unassigned ones
    "\ufe00-\ufe0d"  # variation selectors, of which words need those below
    "\ud800-\udfff"  # halves of surrogate pairs, which UTF-8 has no bytes for
)
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSEEN = re.compile(
    f"[{_NEVER}]"
    "|(?<=[\u200c\u200d])[\u200c\u200d\ufe0e\ufe0f]"
    "|(?<=[\ufe0e\ufe0f])[\u200c\ufe0e\ufe0f]"
    f"|(?<![{_IDEOGRAPH}])[\U000e0100-\U000e01ef]"
    "|(?<![\u1820-\u18aa])[\u180b-\u180f]"
)
"""Controls, surrogates, and what is ignorable by default, but for what words cannot be written without.

Kept, one at a time: U+200C, which Persian writes inside of words; U+200D, which joins emoji and letters of
Indic scripts; U+FE0F and U+FE0E, by which a sign is an emoji or a letter (as the `↩` of footnotes); U+E0100
to U+E01EF right behind an ideograph, which Japanese names need; U+180B to U+180F behind a Mongolian letter.
Whole messages are hidden in runs of them, and no word needs a run.

Source: Unicode 16, DerivedCoreProperties.txt (Default_Ignorable_Code_Point), 23.2, 23.4, 23.8 and 23.9.
"""


def whole_text(text: str) -> str:
    """Put a question mark for each half of a surrogate pair, which UTF-8 has no bytes for.

    JSON and YAML can write one, as `\\ud800`, and no store can hold it.
    """
    return text.encode("utf-8", "replace").decode()


def replace_unseen(text: str) -> str:
    """Return *text* with U+FFFD for each character that nobody sees; its length stays."""
    return _UNSEEN.sub("\ufffd", text)


HEADING_WEIGHT = 256
"""Most a heading path may weigh in what is encoded (letters 1, other characters 4): about 64 word pieces."""

_JOIN = " > "


def encoded_text(heading_path: tuple[str, ...], text: str) -> str:
    """Return exactly what the encoder reads for a chunk: its headings on one line, then the text."""
    headings = encoded_headings(heading_path)
    return f"{headings}\n{text}" if headings else text


def encoded_headings(heading_path: tuple[str, ...]) -> str:
    """Join a heading path; an enormous one loses its front, since the last heading says most."""
    return _JOIN.join(_fitting(heading_path))


def _fitting(heading_path: tuple[str, ...]) -> tuple[str, ...]:
    left = HEADING_WEIGHT
    kept: list[str] = []
    for heading in reversed(heading_path):
        weight = _weight(heading[:left])
        if len(heading) > left or weight > left:
            if not kept:
                kept.append(heading[: left // 4])
            break
        kept.append(heading)
        left -= weight + 4
    return tuple(reversed(kept))


@lru_cache(maxsize=4096)
def _weight(heading: str) -> int:
    """What a heading weighs; it stands over all chunks below it, and over every page of a manual."""
    return sum(1 if char.isascii() and (char.isalnum() or char == " ") else 4 for char in heading)
