"""Limits: whether a sentence says at least, or more than, where a passage says at most, or less than."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.verify.clauses import split_sentences
from retrieval.verify.facts import read_facts
from retrieval.verify.polarity import denies
from retrieval.verify.quantities import Quantity

_MORE = r"(?:more|longer|higher|later|faster|larger|greater|older|heavier)\s+than"
_LESS = r"(?:less|fewer|lower|earlier|shorter|slower|smaller|younger)\s+than"
_NOT = r"(?:not?|never|cannot)\s+(?:\w+\s+){0,2}"
_END = r"(?:\s+\w+){0,2}\s*$"
_NEAR = 200
"""Characters before a number in which words that make it a limit stand; in a row of numbers, all before each
would be read else.
"""
_UPPER, _LOWER = -1, 1
_BELOW, _ABOVE = -2, 2
"""Up to a number, and more than it, are the two sides of one limit and no opposites."""
_BEFORE = tuple(
    (re.compile(words + _END, re.IGNORECASE), bound)
    for words, bound in (
        (rf"\b{_NOT}{_MORE}", _UPPER),
        (rf"\b{_NOT}{_LESS}", _LOWER),
        (rf"\b{_NOT}(?:exceed|be\s+above|go\s+over)", _UPPER),
        (rf"\b{_NOT}(?:fall|go|be|drop)\s+below", _LOWER),
        (r"\b(?:at\s+least|minimum(?:\s+of)?)", _LOWER),
        (rf"\b(?:{_MORE}|above|over|exceeds?|exceeding)", _ABOVE),
        (r"\b(?:at\s+most|up\s+to|maximum(?:\s+of)?|limited\s+to)", _UPPER),
        (rf"\b(?:{_LESS}|below|under)", _BELOW),
    )
)
_AFTER = (
    (
        re.compile(r"\s*(?:\w+\s+)?(?:or\s+(?:more|longer|over)|at\s+least|at\s+the\s+earliest)\b", re.I),
        _LOWER,
    ),
    (
        re.compile(r"\s*(?:\w+\s+)?(?:or\s+(?:less|fewer)|at\s+(?:the\s+)?most|at\s+the\s+latest)\b", re.I),
        _UPPER,
    ),
)
_DENIED_BOUND = re.compile(
    rf"\b{_NOT}(?:{_MORE}|{_LESS}|exceed|be\s+above|(?:fall|go|be|drop)\s+below)", re.I
)

_ONE = re.compile(r"\bone\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    """A number with the limit that it is, and whether what it limits is denied."""

    number: Quantity
    bound: int
    denied: bool


def opposite_bounds(sentence: str, passage: str) -> str | None:
    """Return the number that is a lower limit in one text and an upper limit in the other, or None.

    Where one of the two denies, the limits may well mean the same: over 2 GB refused, up to 2 GB accepted.
    """
    stated = [limit for one in split_sentences(passage) for limit in _limits(one)]
    for said in _limits(sentence):
        same = [one for one in stated if one.bound and one.number.equals(said.number)]
        if (
            said.bound
            and same
            and all(one.bound == -said.bound and one.denied == said.denied for one in same)
        ):
            return said.number.text
    return None


def _limits(sentence: str) -> Iterator[_Limit]:
    denied = denies(_DENIED_BOUND.sub("", sentence))
    for one in (*read_facts(sentence).quantities, *_ones(sentence)):
        yield _Limit(number=one, bound=_bound(sentence, one), denied=denied)


def _ones(text: str) -> Iterator[Quantity]:
    """Yield each bare "one", which is a number where it is a limit: no more than one row."""
    for match in _ONE.finditer(text):
        yield Quantity(text=match[0], values=(1.0,), unit=None, start=match.start(), end=match.end())


def _bound(text: str, one: Quantity) -> int:
    for pattern, bound in _BEFORE:
        if pattern.search(text, max(0, one.start - _NEAR), one.start):
            return bound
    return next((bound for pattern, bound in _AFTER if pattern.match(text, one.end)), 0)
