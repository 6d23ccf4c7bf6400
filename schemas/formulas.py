"""Formulas in a text, written alike wherever they stand, so that one can be found exactly."""

import re

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
    found = (_around(words, place) for place, word in enumerate(words) if _RELATION.search(word))
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
