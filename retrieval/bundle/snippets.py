"""The part of a passage that a list of results shows, with the words of the question marked."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from retrieval.question.words import content_words

LENGTH = 320
"""Characters of a snippet: some three lines on a wide screen."""

LINES = 6
"""Of a passage whose lines are short."""

QUESTION_WORDS = 32
"""Different words of a question that are looked for; a pasted page has hundreds, and they say no more."""

Piece = tuple[str, bool]
"""Text, and whether it is marked."""

_WORD = re.compile(r"\w+")
_STEM, _ENDING = 4, 3

_Hit = tuple[int, tuple[str, ...]]
"""Where a word of a text begins, and the words of the question that it is a form of."""


def cut_snippet(text: str, question: str, *, length: int = LENGTH) -> tuple[Piece, ...]:
    """Return at most *length* characters, and `LINES` lines, around where most of the question's words stand.

    Lines stay lines: a list, options and code would be glued to a sentence that nobody wrote.
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    kept = "\n".join(line for line in lines if line)
    flat = kept.replace("\n", " ")
    words = tuple(dict.fromkeys(content_words(question)))[:QUESTION_WORDS]
    start = _best_start(flat, words, length)
    end = len(flat) if len(flat) <= start + length else flat.rfind(" ", start, start + length)
    end = end if end > start else start + length
    breaks = [start + at for at, letter in enumerate(kept[start:end]) if letter == "\n"]
    end = breaks[LINES - 1] if len(breaks) >= LINES else end
    pieces = mark_words(kept[start:end], words)
    before: tuple[Piece, ...] = (("… ", False),) if start else ()
    return (*before, *pieces, *((" …", False),)) if end < len(flat) else (*before, *pieces)


def mark_words(text: str, words: Collection[str]) -> tuple[Piece, ...]:
    """Divide *text* into what is of these folded words, inflected too, and what is not."""
    found = _matches(text, words)
    pieces: list[Piece] = []
    at = 0
    for match in _WORD.finditer(text):
        if found[match[0].casefold()]:
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
    found = _matches(text, words)
    hits = [(match.start(), found[match[0].casefold()]) for match in _WORD.finditer(text)]
    best = _fullest([hit for hit in hits if hit[1]], length * 3 // 4)
    if best < length // 2:
        return 0
    lead = best - length // 5
    return text.find(" ", lead, best) + 1 or best


def _fullest(hits: Sequence[_Hit], reach: int) -> int:
    """Where the stretch of *reach* characters begins that has most different words, the earliest of these."""
    best, most, end = 0, 0, 0
    inside: Counter[str] = Counter()
    for place, words in hits:
        while end < len(hits) and hits[end][0] < place + reach:
            inside.update(hits[end][1])
            end += 1
        if len(inside) > most:
            best, most = place, len(inside)
        inside -= Counter(words)
    return best


def _matches(text: str, words: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Which of these words each different word of *text* is a form of, by the folded word."""
    tokens = {token.casefold() for token in _WORD.findall(text)}
    return {token: tuple(word for word in words if _is_form(token, word)) for token in tokens}


def _is_form(token: str, word: str) -> bool:
    """Whether two words differ by an ending at most: `lease`, `leases`."""
    short, long = (token, word) if len(token) < len(word) else (word, token)
    return short == long or (
        len(short) >= _STEM and long.startswith(short) and len(long) - len(short) <= _ENDING
    )
