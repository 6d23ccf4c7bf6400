"""The part of a passage that a list of results shows, with the words of the question marked."""

import re
from collections.abc import Collection

from retrieval.question.words import content_words

LENGTH = 320
"""Characters of a snippet: some three lines on a wide screen."""

Piece = tuple[str, bool]
"""Text, and whether it is marked."""

_WORD = re.compile(r"\w+")
_STEM, _ENDING = 4, 3


def cut_snippet(text: str, question: str, *, length: int = LENGTH) -> tuple[Piece, ...]:
    """Return at most *length* characters around where most of the question's words stand, on one line."""
    flat = " ".join(text.split())
    words = frozenset(content_words(question))
    start = _best_start(flat, words, length)
    end = len(flat) if len(flat) <= start + length else flat.rfind(" ", start, start + length)
    end = end if end > start else start + length
    pieces = mark_words(flat[start:end], words)
    before: tuple[Piece, ...] = (("… ", False),) if start else ()
    return (*before, *pieces, *((" …", False),)) if end < len(flat) else (*before, *pieces)


def mark_words(text: str, words: Collection[str]) -> tuple[Piece, ...]:
    """Divide *text* into what is of these folded words, inflected too, and what is not."""
    pieces: list[Piece] = []
    at = 0
    for match in _WORD.finditer(text):
        if any(_is_form(match[0].casefold(), word) for word in words):
            pieces += [(text[at : match.start()], False), (match[0], True)]
            at = match.end()
    pieces.append((text[at:], False))
    return tuple(piece for piece in pieces if piece[0])


def mark_quote(text: str, quote: str) -> tuple[Piece, ...]:
    """Divide *text* into the words of *quote*, in order and whatever the white space, and what is around."""
    parts = quote.split()
    found = re.search(r"\s+".join(map(re.escape, parts)), text) if parts else None
    if found is None:
        return ((text, False),)
    pieces = (text[: found.start()], False), (found[0], True), (text[found.end() :], False)
    return tuple(piece for piece in pieces if piece[0])


def _best_start(text: str, words: Collection[str], length: int) -> int:
    """Where the stretch begins that has most different words, the earliest of these."""
    if len(text) <= length:
        return 0
    hits = [
        (match.start(), word)
        for match in _WORD.finditer(text)
        for word in words
        if _is_form(match[0].casefold(), word)
    ]
    best, most = 0, 0
    for place, _ in hits:
        inside = len({word for at, word in hits if place <= at < place + length * 3 // 4})
        if inside > most:
            best, most = place, inside
    if best < length // 2:
        return 0
    lead = best - length // 5
    return text.find(" ", lead, best) + 1 or best


def _is_form(token: str, word: str) -> bool:
    """Whether two words differ by an ending at most: `lease`, `leases`."""
    short, long = sorted((token, word), key=len)
    return short == long or (
        len(short) >= _STEM and long.startswith(short) and len(long) - len(short) <= _ENDING
    )
