"""Text whose font map gives other letters than are printed: told by how often each is used."""

from collections import Counter
from math import log

_LEAST_LETTERS = 150
_LEAST_SHARE = 0.6
"""Letters to judge by, and their share of all signs: figures have no language."""

_FREQUENCY = {
    "e": 12.8, "a": 9.5, "i": 7.8, "n": 7.6, "t": 7.0, "o": 6.8, "s": 6.6, "r": 6.5, "l": 4.6, "d": 4.0,
    "u": 3.9, "c": 3.0, "m": 2.8, "h": 2.7, "p": 2.4, "g": 1.9, "b": 1.5, "f": 1.4, "v": 1.5, "k": 1.2,
    "y": 1.2, "w": 1.0, "z": 0.9, "j": 0.5, "x": 0.3, "q": 0.3,
}  # fmt: skip
"""Letters of each hundred, the mean of English, German, French, Spanish, Italian and Polish (Wikipedia)."""

_OTHER = log(0.002)
_LOGS = {letter: log(share / 100) for letter, share in _FREQUENCY.items()}
_SHIFTS = (*range(-31, 0), *range(1, 32))
_LIKE = -3.3
"""What a letter of real text has at least, and does not need a closer look; English has -3.0."""

_CLEARLY = 0.5
_LEAST_VOWELS = 0.2
"""By how much, for each letter, moved letters must be more like a language; share of vowels in all."""


def is_garbled(text: str) -> bool:
    """Whether a text in Latin letters is moved along the alphabet, or has hardly a vowel."""
    signs = Counter({sign: count for sign, count in Counter(text).items() if not sign.isspace()})
    letters = sum(count for sign, count in signs.items() if sign.isascii() and sign.isalpha())
    total = signs.total()
    if letters < _LEAST_LETTERS or letters < _LEAST_SHARE * total:
        return False
    kept = Counter({sign: count for sign, count in signs.items() if not sign.isdigit()})
    own = _likeness(kept, 0)
    if own > _LIKE:
        return False
    small = sum(count for sign, count in kept.items() if sign.islower())
    vowels = sum(count for sign, count in kept.items() if sign.lower() in "aeiouy" or not sign.isascii())
    mute = vowels < _LEAST_VOWELS * letters and small > letters / 2
    return mute or any(_likeness(kept, by) > own + _CLEARLY for by in _SHIFTS)


def _likeness(signs: Counter[str], by: int) -> float:
    said = sum(
        count * _LOGS.get(chr(max(ord(sign) + by, 0)).lower(), _OTHER) for sign, count in signs.items()
    )
    return said / signs.total()
