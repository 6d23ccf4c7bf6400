"""Pages by the words they share with a question, and how much of a question a text covers."""

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from retrieval.wiki.page import WikiPage
from retrieval.wiki.words import stems


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHit:
    """A page that shares words with a question; `coverage` as `cover` gives it for the whole page."""

    page: WikiPage
    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Rarity:
    """How much a word says: its inverse frequency over the pages of a wiki; a word of none says most."""

    pages: int
    counts: Mapping[str, int]

    def of(self, word: str) -> float:
        """Return `ln(1 + (N - n + .5) / (n + .5))`, always positive (BM25; Robertson, Zaragoza 2009)."""
        holding = self.counts.get(word, 0)
        return math.log(1 + (self.pages - holding + 0.5) / (holding + 0.5))

    def cover(self, wanted: Collection[str], there: Collection[str]) -> float:
        """Return the share in [0, 1] of the words *wanted*, each by its rarity, that are *there*."""
        whole = sum(self.of(word) for word in sorted(wanted))
        return sum(self.of(word) for word in sorted(wanted) if word in there) / whole if whole else 0.0


class PageIndex:
    """The words of all pages of a wiki, read once."""

    def __init__(self, pages: Collection[WikiPage]) -> None:
        self._words = [(page, stems(page.text)) for page in pages]
        self.rarity = Rarity(len(pages), Counter(word for _, there in self._words for word in there))

    def search(self, query: str, *, top_k: int) -> tuple[PageHit, ...]:
        """Return the best *top_k* pages that share a word with *query*.

        Score: the mean of two shares of the question: what title, summary and query of a page cover, and what
        all of it does; order (-score, category, slug).
        """
        asked = stems(query)
        hits = [self._hit(page, there, asked) for page, there in self._words if asked & there]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.page.category, hit.page.slug))[:top_k])

    def _hit(self, page: WikiPage, there: frozenset[str], asked: frozenset[str]) -> PageHit:
        head = self.rarity.cover(asked, stems(f"{page.title} {page.summary} {page.query}"))
        whole = self.rarity.cover(asked, there)
        return PageHit(page=page, score=round((head + whole) / 2, 6), coverage=round(whole, 6))
