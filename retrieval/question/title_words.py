"""Words of headings and link texts, made comparable."""

import re

from retrieval.question.words import content_words

_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ions?|ings?|ed|es|s)$")


def stems(text: str) -> frozenset[str]:
    """Return the words of *text* without stop words and without the commonest English endings."""
    return frozenset(_ENDING.sub("", word) for word in content_words(text))


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Share of common words; 0 where both are empty."""
    return len(left & right) / len(left | right) if left | right else 0.0


def f1(left: frozenset[str], right: frozenset[str]) -> float:
    """Harmonic mean of how much of each is in the other."""
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0
