"""What two versions of a text have in common, word by word, for people to read."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

PAIRS_MAX = 20_000
"""Pairs of equal tokens that are compared: the time grows with them, and a page may say one word for ever."""

ALIKE = 0.3
"""Share of common tokens below which words in common are chance, and one text stands for the other."""

_TOKENS = (re.compile(r"(?:\w+|[^\w\s])\s*|\s+"), re.compile(r"[^\n]*\n|[^\n]+"))
"""Words and signs, each with the white space behind it; or, of texts that repeat themselves, lines."""


class Mark(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text, and whether it is in both versions, the old or the new."""

    mark: Mark
    text: str


def compare(old: str, new: str) -> tuple[Piece, ...]:
    """Return the pieces that make up both versions, in reading order; what goes stands before what comes.

    Without ADDED they are *old*, without REMOVED they are *new*.
    """
    for pattern in _TOKENS:
        before, after = pattern.findall(old), pattern.findall(new)
        if _pairs(before, after) > PAIRS_MAX:
            continue
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        if matcher.ratio() >= ALIKE:
            return _kept(_pieces(matcher, before, after))
        break
    return _kept((Piece(Mark.REMOVED, old), Piece(Mark.ADDED, new)))


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    counts = Counter(new)
    return sum(times * counts[token] for token, times in Counter(old).items())


def _pieces(matcher: SequenceMatcher[str], old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            yield Piece(Mark.SAME, "".join(old[a0:a1]))
        else:
            yield Piece(Mark.REMOVED, "".join(old[a0:a1]))
            yield Piece(Mark.ADDED, "".join(new[b0:b1]))


def _kept(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(piece for piece in pieces if piece.text)
