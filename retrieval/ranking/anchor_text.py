"""How well link texts answer a question: those of links into a chunk, and half as much those out of it."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from retrieval.question.words import content_words
from schemas.edges import Edge, LinkPosition
from schemas.nodes import Chunk

POSITION_WEIGHTS: Mapping[LinkPosition, float] = {
    LinkPosition.NAV: 1.0,
    LinkPosition.HEADER: 0.9,
    LinkPosition.BODY: 0.6,
    LinkPosition.ASIDE: 0.3,
    LinkPosition.FOOTER: 0.1,
}
"""As links count for authority (design 7: menu before body before footer)."""
OUTGOING = 0.5
_SAYS_NOTHING = frozenset({"here", "more", "next", "previous"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorHits:
    """The words of a question with what each is worth, and the links seen around its candidates.

    A link into a chunk whose edge was not read counts as one of a body.
    """

    asked: frozenset[str] = frozenset()
    worth: Mapping[str, float] = field(default_factory=dict)
    unseen: float = 1.0
    into: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    out_of: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)

    def of(self, chunk: Chunk) -> float:
        """Return the best F1, in [0, 1], of any link text, weighed by position; 0 for "here" and the like."""
        if not chunk.anchor_texts and chunk.doc not in self.into and chunk.id not in self.out_of:
            return 0.0
        landing = [edge for edge in self.into.get(chunk.doc, ()) if lands_on(edge, chunk)]
        seen = {edge.anchor_text for edge in landing}
        hits = [self._f1(text) * _weight(None) for text in chunk.anchor_texts if text not in seen]
        hits += [self._f1(edge.anchor_text or "") * _weight(edge) for edge in landing]
        hits += [
            self._f1(edge.anchor_text or "") * _weight(edge) * OUTGOING
            for edge in self.out_of.get(chunk.id, ())
        ]
        return max(hits, default=0.0)

    def _f1(self, text: str) -> float:
        words = frozenset(content_words(text)) - _SAYS_NOTHING
        shared, total = self._sum(words & self.asked), self._sum(words) + self._sum(self.asked)
        return 2 * shared / total if total > 0 else 0.0

    def _sum(self, words: Iterable[str]) -> float:
        return math.fsum(self.worth.get(word, self.unseen) for word in sorted(words))


def weigh_anchors(query: str, rows: Collection[Chunk], links: Collection[Edge]) -> AnchorHits:
    """Weigh words by `ln(1 + N/n)`, of the N candidates n having the word in headings or link texts.

    A word that every page of a site has in its headings so says little, and one that no candidate has most.
    """
    into: dict[str, list[Edge]] = {}
    out_of: dict[str, list[Edge]] = {}
    for edge in sorted(links, key=lambda edge: edge.id):
        into.setdefault(edge.dst, []).append(edge)
        if edge.chunk:
            out_of.setdefault(edge.chunk, []).append(edge)
    held = Counter(word for row in rows for word in _words(row))
    return AnchorHits(
        asked=frozenset(content_words(query)),
        worth={word: math.log(1 + len(rows) / held[word]) for word in held},
        unseen=math.log(1 + max(1, len(rows))),
        into={key: tuple(found) for key, found in into.items()},
        out_of={key: tuple(found) for key, found in out_of.items()},
    )


def _words(row: Chunk) -> set[str]:
    return {word for text in (*row.heading_path, *row.anchor_texts) for word in content_words(text)}


def lands_on(edge: Edge, chunk: Chunk) -> bool:
    """Whether a link leads to this chunk: by its fragment, or to the beginning of the document."""
    if edge.fragment:
        return edge.fragment in {chunk.fragment, *chunk.fragments, f"page={chunk.page_no}"}
    return chunk.ordinal == 0


def _weight(edge: Edge | None) -> float:
    position = edge.position if edge else None
    return POSITION_WEIGHTS[position or LinkPosition.BODY]
