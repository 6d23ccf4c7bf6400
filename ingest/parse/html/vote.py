"""What trafilatura took for content, to be asked of any text whether it is in it."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

FEW_WORDS = 50
"""A vote of fewer words is none: trafilatura is made for articles."""

VOTED_PAIRS = 0.7
"""Share of a text's word pairs that stand in the vote too, from which on the text was voted for."""

TELLING = 5
"""Words of a text from which on it is no chance that they stand in the vote; fewer must be a line of it."""

_LONG_LINE = 30
"""Words of a paragraph: teasers, cards and entries of a list are shorter."""

Pairs = Counter[tuple[str, str]]

_WORD = re.compile(r"\w+")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote in the forms that texts are compared with: without spaces, by line or cell, by word pairs."""

    text: str
    squashed: str
    lines: frozenset[str]
    pairs: Pairs

    @classmethod
    def of(cls, text: str) -> "Vote":
        """Prepare the text that was voted for; its lines are blocks, marked as items of a list or cells."""
        lines = (part for line in text.splitlines() for part in (line.strip("- "), *line.split("|")))
        return cls(text, squash(text), frozenset(filter(None, map(squash, lines))), pairs_of(text))

    def has(self, text: str) -> bool:
        """Whether *text* was voted for, or nearly all of it: how its spaces are set makes no difference."""
        key = squash(text)
        if len(text.split()) < TELLING:
            return key in self.lines
        return key in self.squashed or self._has_pairs(text)

    def _has_pairs(self, text: str) -> bool:
        pairs = pairs_of(text)
        return sum(pair in self.pairs for pair in pairs) >= VOTED_PAIRS * len(pairs)

    @property
    def prose(self) -> float:
        """Share of the words that stand in paragraphs."""
        lengths = [len(line.split()) for line in self.text.splitlines()]
        return sum(length for length in lengths if length >= _LONG_LINE) / max(1, sum(lengths))


def squash(text: str) -> str:
    """Take out all white space."""
    return _SPACES.sub("", text)


def pairs_of(text: str) -> Pairs:
    """Neighbouring words: how lines are broken, and what marks a list, makes no difference."""
    words = _WORD.findall(text.lower())
    return Counter(pairwise(words)) or Counter((word, "") for word in words)
