"""Words seen against words kept: what is lost, what is left out for a reason, what nobody sees. Pure."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from ingest.parse.wording import count_folded, fold_words, without_figures
from schemas.fragment import Explained, LostWord, WordCoverage

SHOWN = 20
"""Losses and inventions that are told word by word."""

_NEAR = 400
_LONG = 200
"""Signs: a piece is looked for this near to where the last one ended, a longer one anywhere behind it."""

_FAR = 1 << 30
"""Signs gone through to find pieces anywhere: one that is not in a document of 20 MB takes milliseconds."""

_AROUND = 32
_NUMBER = re.compile(r"\d{0,3}")
"""Nobody invents such a word: style sheets number items and notes, and no text has what they write."""

_SEAM = re.compile(r"[-\u2010\u00ad](?:(?<=\u00ad)|[ \t]*\n[ \t]*)")
"""Where a word is broken, or would be: `\u00ad` is a break that a reader joins."""

_BEFORE, _BEHIND = re.compile(r"\w+$"), re.compile(r"\w+")
_LONGEST = 60
_MARKED = re.compile(r"(\D+)(\d{1,3})")
"""A word with the number of a note behind it, which a parser may set apart."""


def account(seen: str, kept: Iterable[str], explained: Explained, *, hides: bool = False) -> WordCoverage:
    """Compare what a reader sees with what chunks say, both as texts.

    Words are compared as multisets. Stretches that stand in both in the same order are set aside first,
    which changes nothing but the cost. *explained* is asked for as long as words are missing.

    Args: hides: tell no word, since they may be secret.
    """
    book = _Book(f" {fold_words(seen)} ")
    for text in kept:
        book.keep(text)
    missing, invented = book.compare()
    _join_broken(seen, missing, invented)
    missing = +missing
    invented = Counter(
        {word: times for word, times in invented.items() if times > 0 and not _NUMBER.fullmatch(word)}
    )
    dropped: Counter[str] = Counter()
    told: list[str] = []
    for reason, text in explained if missing else ():
        words = fold_words(text)
        found = Counter(words.split()) & missing
        if found:
            for word, times in found.items():
                missing[word] -= times
                if not missing[word]:
                    del missing[word]
            dropped[reason] += found.total()
            told.append(words)
        if not missing:
            break
    total = count_folded(book.seen[1:-1])
    lost = missing.total()
    return WordCoverage(
        seen=total,
        kept=total - dropped.total() - lost,
        lost=lost,
        dropped=tuple(dropped.most_common()),
        invented=invented.total(),
        losses=() if hides or not lost else tuple(book.places_of(missing, told)),
        inventions=() if hides else tuple(invented)[:SHOWN],
    )


@dataclass(slots=True)
class _Book:
    """The words seen, between single spaces, and the stretches of them that are kept; `left` were not found.

    `places` are where text was found last: in reading order, and beside it, as a note at the foot; `far` is
    how many signs may yet be gone through to find text anywhere.
    """

    seen: str
    spans: list[tuple[int, int]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=lambda: [0, 0])
    far: int = _FAR

    def keep(self, text: str) -> None:
        """Set a text aside as a whole, or line by line."""
        words = fold_words(text)
        if self._find(words):
            return
        for line in text.split("\n"):
            # As it is, first: a text may have of its own what we write for a picture.
            said = (fold_words(line), fold_words(without_figures(line)))
            if not any(map(self._find, said)):
                self.left.append(said[-1])

    def _find(self, words: str) -> bool:
        if not words:
            return True
        for number, after in enumerate(self.places):
            if self._set_aside(words, after, after + len(words) + _NEAR, number):
                return True
        if len(words) <= _LONG or self.far <= 0:
            return False
        self.far -= len(self.seen)
        return self._set_aside(words, 0, len(self.seen), 1)

    def _set_aside(self, words: str, after: int, limit: int, place: int) -> bool:
        at = self.seen.find(f" {words} ", after, limit)
        end = at + len(words) + 1
        behind = bisect_left(self.spans, (at, end))
        around = self.spans[max(0, behind - 1) : behind + 1]
        if at < 0 or any(first < end and at < last for first, last in around):
            return False
        self.spans.insert(behind, (at, end))
        self.places[place] = end
        return True

    def gaps(self) -> Iterator[tuple[int, int]]:
        """Yield where stretches begin and end that were not set aside."""
        at = 0
        for start, end in self.spans:
            if start > at:
                yield at, start
            at = end
        yield at, len(self.seen)

    def compare(self) -> tuple[Counter[str], Counter[str]]:
        """Return the words that only a reader sees, and those that only chunks have."""
        seen = Counter(" ".join(self.seen[start:end] for start, end in self.gaps()).split())
        kept = Counter(" ".join(self.left).split())
        return seen - kept, kept - seen

    def places_of(self, missing: Counter[str], told: Iterable[str]) -> Iterator[LostWord]:
        """Yield the first words that are *missing*, rather from where no text was *told* to be left out."""
        left = Counter(missing)
        found = ((self.seen.find(f" {text} "), len(text) + 1) for text in told)
        apart = sorted((at, at + length) for at, length in found if at >= 0)
        starts, ends = [start for start, _ in apart], list(accumulate((end for _, end in apart), max))
        places = [at for start, end in self.gaps() for at in self._words_in(start, end, missing)]
        places.sort(key=lambda at: (before := bisect_right(starts, at)) > 0 and at < ends[before - 1])
        shown = 0
        for start in places:
            end = self.seen.index(" ", start)
            word = self.seen[start:end]
            if left[word] > 0 and shown < SHOWN:
                left[word] -= 1
                shown += 1
                yield LostWord(word=word, context=self._around(start, end))

    def _words_in(self, start: int, end: int, wanted: Counter[str]) -> Iterator[int]:
        for word in self.seen[start:end].split(" "):
            if word in wanted:
                yield start
            start += len(word) + 1

    def _around(self, start: int, end: int) -> str:
        first = self.seen.find(" ", max(0, start - _AROUND)) + 1
        last = self.seen.rfind(" ", end, end + _AROUND)
        return self.seen[min(first, start) : max(last, end)].strip()


def _join_broken(seen: str, missing: Counter[str], invented: Counter[str]) -> None:
    """Take for one word what is two on the page alone: broken at a line's end, or marked with a note."""
    for first, last in _broken(seen) if missing else ():
        parts, whole = Counter((first, last)), first + last
        if parts <= missing:
            missing.subtract(parts)
            counted = invented if invented[whole] > 0 else missing
            counted[whole] += 1 if counted is missing else -1
        elif missing[whole] > 0 and parts <= invented:
            missing[whole] -= 1
            invented.subtract(parts)
    for word in list(missing) if invented else ():
        match = _MARKED.fullmatch(word)
        while match and missing[word] > 0 and invented[match[1]] > 0 and invented[match[2]] > 0:
            missing.subtract((word,))
            invented.subtract(match.groups())


def _broken(seen: str) -> Iterator[tuple[str, str]]:
    for seam in _SEAM.finditer(seen):
        first = _BEFORE.search(seen[max(0, seam.start() - _LONGEST) : seam.start()])
        last = _BEHIND.match(seen, seam.end(), seam.end() + _LONGEST)
        if first and last:
            yield fold_words(first[0]), fold_words(last[0])
