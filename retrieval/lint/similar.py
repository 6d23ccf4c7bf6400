"""Which sets of words are nearly the same, without comparing all with all.

Prefix filtering: two sets that share enough have one of their rarest words in common (Bayardo, Ma and
Srikant, Scaling Up All Pairs Similarity Search, WWW 2007).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil


def similar_pairs(sets: Sequence[frozenset[str]], *, least: float) -> Iterator[tuple[int, int]]:
    """Yield pairs (i, j), i < j, of sets with a Jaccard index of *least* or more; none is like an empty one.

    >>> list(similar_pairs([frozenset("abcd"), frozenset("abce"), frozenset("xyz")], least=0.6))
    [(0, 1)]
    """
    counts = Counter(word for words in sets for word in words)
    ordered = [sorted(words, key=lambda word: (counts[word], word)) for words in sets]
    by_size = sorted(
        (number for number, words in enumerate(sets) if words), key=lambda at: (len(sets[at]), at)
    )
    holding: dict[str, list[int]] = {}
    found: list[tuple[int, int]] = []
    for number in by_size:
        words = ordered[number]
        prefix = words[: len(words) - ceil(least * len(words)) + 1]
        seen = {other for word in prefix for other in holding.get(word, ())}
        for other in seen:
            if _is_like(sets[other], sets[number], least):
                found.append((min(other, number), max(other, number)))
        for word in prefix:
            holding.setdefault(word, []).append(number)
    yield from sorted(found)


def _is_like(smaller: frozenset[str], larger: frozenset[str], least: float) -> bool:
    if len(smaller) < least * len(larger):
        return False
    shared = len(smaller & larger)
    return shared >= least * (len(smaller) + len(larger) - shared)
