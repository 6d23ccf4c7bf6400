"""Places in an order, in figures or in words: 16th, sixteenth, number 16."""

import re
from collections.abc import Collection, Iterator

from retrieval.verify.lexicon import ORDINALS, TENS
from retrieval.verify.quantities import Quantity

_TENTHS = {f"{name[:-1]}ieth": 10 * value for value, name in enumerate(TENS, start=2)}
_UNITS = {name: value for value, name in enumerate(ORDINALS, start=1)}
_FIGURES = re.compile(r"(?<![\w.,-])(\d+)(?:st|nd|rd|th)(?!\w)", re.IGNORECASE)
_WORDS = re.compile(
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
    for match in _WORDS.finditer(text):
        tens, unit, tenth = (part.casefold() if part else None for part in match.groups())
        value = _TENTHS[tenth] if tenth else _UNITS[unit or ""] + 10 * (TENS.index(tens) + 2 if tens else 0)
        if value >= _TELLING:
            yield match[0], float(value)
