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
        """Give `ln(1 + (N - n + .5) / (n + .5))`, above 0 for every word (BM25; Robertson, Zaragoza 2009)."""
        holding = self.counts.get(word, 0)
        return math.log(1 + (self.pages - holding + 0.5) / (holding + 0.5))

    def cover(self, wanted: Collection[str], there: Collection[str]) -> float:
        """Give the share in [0, 1] of the words *wanted*, each by its rarity, that are *there*."""
        whole = sum(self.of(word) for word in sorted(wanted))
        return sum(self.of(word) for word in sorted(wanted) if word in there) / whole if whole else 0.0


def rarity_of(pages: Collection[WikiPage]) -> Rarity:
    """Count over all pages of a wiki, each word once a page."""
    counts = Counter(word for page in pages for word in stems(page.text))
    return Rarity(len(pages), counts)


def search_pages(pages: Collection[WikiPage], query: str, *, top_k: int) -> tuple[PageHit, ...]:
    """Give the best *top_k* pages that share a word with *query*.

    Score: the share of the question that the title, summary and query of the page cover, plus the share that
    all of it covers; order (-round(score, 6), category, slug).
    """
    rarity, asked = rarity_of(pages), stems(query)
    hits = []
    for page in pages:
        head = rarity.cover(asked, stems(" ".join((page.title, page.summary, page.query))))
        whole = rarity.cover(asked, stems(page.text))
        if whole > 0:
            hits.append(PageHit(page=page, score=round((head + whole) / 2, 6), coverage=round(whole, 6)))
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.page.category, hit.page.slug))[:top_k])
