"""Whether two statements say different things of one: one number, date, denial or switch apart."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from retrieval.lint.statement import Term, TermKind
from retrieval.verify.dates import Date
from retrieval.verify.quantities import Quantity

REWORDED = 1
"""Most words that may differ beside it, where both are of one entry and neither denies; else none may."""

_CASES = re.compile(
    r"\b(?:for (?:example|instance)|e\.g\.|such as|example|suppose|assume|imagine|say,|sample|hypothetical"
    r"|versions?|releases?|as of|prior to|since|until|upgrad\w+|respectively|both|either|first|second|third"
    r"|former|latter|otherwise|instead|unless|alternatively|conversely)\b",
    re.IGNORECASE,
)
"""Words of examples, of versions, and of cases that are told apart."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """What one statement has where the other has something else; empty: nothing."""

    kind: TermKind
    mine: str
    theirs: str


def tells_cases(text: str) -> bool:
    """Whether a sentence gives an example, or says of which case or version it speaks."""
    return bool(_CASES.search(text))


def opposed(mine: Sequence[Term], theirs: Sequence[Term], *, same_entry: bool) -> Contrast | None:
    """Return the one difference by which two statements cannot both hold, or None.

    A name that differs, or more than *REWORDED* words, means that they speak of two things.
    """
    found: list[Contrast] = []
    reworded = 0
    left, right = ([f"{one.kind}:{one.frame}:{one.value}" for one in side] for side in (mine, theirs))
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        told = _compare(mine[i1:i2], theirs[j1:j2])
        if told is None:
            return None
        difference, words = told
        reworded += words
        if difference is not None:
            found.append(difference)
    if len(found) != 1:
        return None
    may = REWORDED if same_entry and found[0].kind is not TermKind.NOT else 0
    return found[0] if reworded <= may else None


def _compare(mine: Sequence[Term], theirs: Sequence[Term]) -> tuple[Contrast | None, int] | None:
    """Return the telling difference of two slots and how many words differ beside; None: another subject."""
    names = [{one.value for one in side if one.kind is TermKind.NAME} for side in (mine, theirs)]
    if names[0] != names[1]:
        return None
    words = max(sum(one.kind is TermKind.WORD for one in side) for side in (mine, theirs))
    telling = [
        [one for one in side if one.kind not in (TermKind.WORD, TermKind.NAME)] for side in (mine, theirs)
    ]
    if not any(telling):
        return None, words
    if max(map(len, telling)) > 1:
        return None
    one, other = (side[0] if side else None for side in telling)
    return (difference, words) if (difference := _differ(one, other)) else None


def _differ(one: Term | None, other: Term | None) -> Contrast | None:
    known = one or other
    assert known is not None
    said, stated = (term.value if term else "" for term in (one, other))
    if one is None or other is None:
        return Contrast(known.kind, said, stated) if known.kind is TermKind.NOT else None
    if one.kind is not other.kind or one.frame != other.frame:
        return None
    if isinstance(one.amount, Quantity) and isinstance(other.amount, Quantity):
        return Contrast(one.kind, said, stated) if one.amount.competes(other.amount) else None
    if isinstance(one.amount, Date) and isinstance(other.amount, Date):
        follows = one.amount.follows_from(other.amount) or other.amount.follows_from(one.amount)
        return None if follows else Contrast(one.kind, said, stated)
    return Contrast(one.kind, said, stated)
