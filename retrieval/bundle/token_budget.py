"""The token budget: texts are cut at block, then sentence ends before any evidence is dropped."""

import re
from collections.abc import Callable, Sequence

CountTokens = Callable[[str], int]

SHORTEST_CUT = 24
"""Tokens below which a cut passage says too little; then the last evidence goes instead."""

_BLOCK_END = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"[.!?…。][\"'”’)\]]*(?=\s|$)")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")
_WHOLE_LINE = re.compile(
    r"\s*\||\s{4}|\t|.*[{};(\\]\s*$|\s*(?:```|~~~|\$ |>>> |[)\]}])|[^.!?]*\t"
    r"|.*\S \| \S|[^\s(]+\([^()]*\)\s*$|\S+ [+:]?= \S"
)
"""A table row or a line of code: kept whole or not at all."""


def fit_budget(texts: Sequence[str], count_tokens: CountTokens, *, budget: int) -> tuple[int, ...]:
    """Return how many characters of each text to keep, in rank order; 0 drops it.

    Short texts stay whole; long ones share what those leave, and what a cut leaves over goes to the
    better ranked. Dropped is the last evidence where shares would fall below 24 tokens, and a passage
    whose first table row or line of code alone is too long.
    """
    sizes = [count_tokens(text) for text in texts]
    while len(sizes) > 1 and sum(sizes) > budget and _fair_share(sizes, budget) < SHORTEST_CUT:
        sizes.pop()
    share, left = _fair_share(sizes, budget), budget
    kept: list[int] = []
    for index, size in enumerate(sizes):
        room = left - sum(min(share, later) for later in sizes[index + 1 :])
        kept.append(len(texts[index]) if size <= room else cut_text(texts[index], count_tokens, limit=room))
        left -= count_tokens(texts[index][: kept[-1]])
    return tuple(kept) + (0,) * (len(texts) - len(kept))


def _fair_share(sizes: Sequence[int], budget: int) -> int:
    """The largest cap L with `sum(min(size, L)) <= budget`; the largest size if all fit."""
    left = budget
    for index, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - index)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def cut_text(text: str, count_tokens: CountTokens, *, limit: int) -> int:
    """Return the length of the longest beginning of *text* within *limit* tokens that ends well.

    Best is the end of a block, if that keeps at least half of what the end of a sentence or of a whole
    line keeps; prose without either is cut after a word. 0 if the first code line or table row is too long.
    """
    block = _last_fitting(text, [match.start() for match in _BLOCK_END.finditer(text)], count_tokens, limit)
    sentence = _last_fitting(text, _sentence_ends(text), count_tokens, limit)
    if max(block, sentence):
        return block if 2 * block >= sentence else sentence
    if is_whole_line(text.partition("\n")[0]):
        return 0
    return _last_fitting(text, [match.start() for match in _WORD_END.finditer(text)], count_tokens, limit)


def is_whole_line(line: str) -> bool:
    """Whether a line is the row of a table or code, by its form."""
    return bool(_WHOLE_LINE.match(line))


def _sentence_ends(text: str) -> list[int]:
    """Where code lines and table rows end, and where sentences do in the other lines."""
    ends: list[int] = []
    start = 0
    for line in text.splitlines(keepends=True):
        if is_whole_line(line):
            ends.append(start + len(line))
        else:
            ends += [start + match.end() for match in _SENTENCE_END.finditer(line)]
        start += len(line)
    return ends


def _last_fitting(text: str, ends: Sequence[int], count_tokens: CountTokens, limit: int) -> int:
    """Return the last of *ends* before which *text* contains at most *limit* tokens, by bisection."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[: ends[middle - 1]]) <= limit:
            low = middle
        else:
            high = middle - 1
    return len(text[: ends[low - 1]].rstrip()) if low else 0


def cut_offsets(offsets: tuple[int, int], text: str, kept: int) -> tuple[int, int]:
    """Let the offsets of a chunk follow a cut of its text to the first *kept* characters.

    A repeated table header stands before what the offsets speak of and moves nothing.
    """
    start, end = offsets
    header = max(0, len(text) - (end - start))
    return (start, end if kept >= len(text) else min(end, start + max(0, kept - header)))
