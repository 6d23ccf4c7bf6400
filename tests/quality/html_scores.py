"""How well text and headings agree with what people say a page holds."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean

_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^#{1,6} +(.+?)[ #]*$", re.MULTILINE)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NO_LETTER = re.compile(r"[\W_]")


@dataclass(slots=True)
class Matches:
    """Found, stated and shared items, pooled over pages."""

    found: int = 0
    stated: int = 0
    shared: int = 0

    def add(self, found: Iterable[str], stated: Iterable[str]) -> None:
        """Match one page's items as multisets."""
        ours, gold = Counter(found), Counter(stated)
        self.found += ours.total()
        self.stated += gold.total()
        self.shared += (ours & gold).total()

    @property
    def recall(self) -> float:
        """Share of the stated items that were found; 1 where none is stated."""
        return self.shared / self.stated if self.stated else 1.0

    @property
    def precision(self) -> float:
        """Share of the found items that are stated; 1 where none was found."""
        return self.shared / self.found if self.found else 1.0


def word_f1(text: str, gold: str) -> float:
    """F1 of two texts as multisets of words, lower case."""
    matches = Matches()
    matches.add(_WORD.findall(text.lower()), _WORD.findall(gold.lower()))
    both = matches.recall + matches.precision
    return 2 * matches.recall * matches.precision / both if matches.shared else 0.0


def shingle_f1(text: str, gold: str, *, length: int = 4) -> float:
    """F1 of two texts as multisets of runs of *length* words, lower case: order counts, single words do not.

    Source: the measure of Scrapinghub's article extraction benchmark.
    """
    matches = Matches()
    matches.add(_shingles(text, length), _shingles(gold, length))
    both = matches.recall + matches.precision
    return 2 * matches.recall * matches.precision / both if matches.shared else 0.0


def _shingles(text: str, length: int) -> list[str]:
    words = _WORD.findall(text.lower())
    return [" ".join(words[start : start + length]) for start in range(max(1, len(words) - length + 1))]


def key(title: str) -> str:
    """A title as letters and digits alone, lower case."""
    return _NO_LETTER.sub("", title).lower()


def markdown_headings(text: str) -> Iterator[str]:
    """Keys of the ATX headings of a Markdown text, links reduced to their text."""
    for title in _HEADING.findall(text):
        yield key(_LINK.sub(r"\1", title))


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    numbers = list(values)
    return fmean(numbers) if numbers else 0.0
