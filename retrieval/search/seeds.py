"""Seeds: one ranked list a field, fused by weighted reciprocal rank, balanced over documents."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from indexes.ports import ChunkReader, Vector
from retrieval.question.catalogue import codes_to_search
from retrieval.question.route import Route
from retrieval.question.words import searched_words
from retrieval.search.parallel import run_in_parallel
from schemas.evidence import Filter, Hit, Query, SearchField

DEPTH = 200
POOL = 80
PER_DOCUMENT = 8
PER_PDF = 40
"""A PDF is asked for its pages, of which it has hundreds (measured: MMLongBench R@5 44 by 8, 48 by 40)."""
RRF_K = 60
PDF_BIAS = 1.25
NEAREST = 10
PDF = "pdfdoc:"


class SeedList(StrEnum):
    """A field and how it is searched."""

    TEXT_BM25 = "text_bm25"
    TEXT_DENSE = "text_dense"
    HEADING_BM25 = "heading_bm25"
    HEADING_DENSE = "heading_dense"
    ANCHOR_BM25 = "anchor_bm25"
    ANCHOR_DENSE = "anchor_dense"
    CODES = "codes"
    CAPTION_DENSE = "caption_dense"


Lists = Mapping[SeedList, tuple[Hit, ...]]

WEIGHTS: Mapping[Route, Mapping[SeedList, float]] = {
    route: dict(zip(SeedList, weights, strict=True))
    for route, weights in {
        Route.PLAIN: (1, 1, 0.5, 0.5, 0.5, 0.25, 1, 0.25),
        Route.NAVIGATION: (0.5, 0.5, 1.5, 1.5, 1.5, 1, 1, 0.25),
        Route.RELATIONSHIP: (1, 1, 0.5, 0.25, 1, 0.5, 1, 0.25),
        Route.PDF: (1, 1, 0.75, 0.5, 0.25, 0, 1, 0.75),
        Route.ID: (0.5, 0.25, 0.5, 0, 0.5, 0, 4, 0),
    }.items()
}
"""Weight of each list by route, in the order of `SeedList`; starting values, not tuned (docs/querying.md)."""
TELLING = 3.0
"""Weight of chunks with a code that names a thing by itself; beside that of the codes, as on the id route."""

_BM25 = {
    SeedList.TEXT_BM25: SearchField.TEXT,
    SeedList.HEADING_BM25: SearchField.HEADING,
    SeedList.ANCHOR_BM25: SearchField.ANCHORS,
}
_DENSE = {
    SeedList.TEXT_DENSE: SearchField.TEXT,
    SeedList.HEADING_DENSE: SearchField.HEADING,
    SeedList.ANCHOR_DENSE: SearchField.ANCHORS,
    SeedList.CAPTION_DENSE: SearchField.CAPTIONS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedQuery:
    """A query with its vector, ready to search; `unrelated` is what its encoder gives unrelated texts."""

    query: Query
    vector: Vector
    unrelated: float = 0.0

    def bm25(
        self, chunks: ChunkReader, field: SearchField, *, top_k: int = DEPTH, only: tuple[Filter, ...] = ()
    ) -> tuple[Hit, ...]:
        """Search *field* by words but stop words, under the query's filters and *only*."""
        words = searched_words(self.query.text)
        return chunks.search_text(field, words, top_k=top_k, filters=(*self.query.conditions, *only))

    def dense(
        self, chunks: ChunkReader, field: SearchField, *, top_k: int = DEPTH, only: tuple[Filter, ...] = ()
    ) -> tuple[Hit, ...]:
        """Search *field* by cosine, under the query's filters and *only*."""
        return chunks.search_vector(field, self.vector, top_k=top_k, filters=(*self.query.conditions, *only))


def gather_lists(chunks: ChunkReader, asked: EmbeddedQuery) -> Lists:
    """Search every field once, whatever the route: the lists also tell which route it is."""
    asks: dict[SeedList, Callable[[], tuple[Hit, ...]]] = {
        **{name: partial(asked.dense, chunks, field) for name, field in _DENSE.items()},
        **{name: partial(asked.bm25, chunks, field) for name, field in _BM25.items()},
        SeedList.CODES: partial(_search_codes, chunks, asked),
    }
    found = dict(zip(asks, run_in_parallel(list(asks.values())), strict=True))
    return {name: found[name] for name in (*_BM25, *_DENSE, SeedList.CODES)}


def _search_codes(chunks: ChunkReader, asked: EmbeddedQuery) -> tuple[Hit, ...]:
    codes = codes_to_search(asked.query.text)
    if not codes:
        return ()
    return chunks.search_text(SearchField.CODES, codes, top_k=DEPTH, filters=asked.query.conditions)


def found_by_search(lists: Lists) -> frozenset[str]:
    """Return the chunks that a plain search would show: all that share words, and the 10 nearest.

    In a small index the dense lists contain everything, and being in one says nothing.
    """
    shown = (hits[:NEAREST] if name in _DENSE else hits for name, hits in lists.items())
    return frozenset(hit.chunk_id for hits in shown for hit in hits)


def found_nearest(lists: Lists) -> tuple[str, ...]:
    """Return the ten chunks whose text is nearest by cosine, best first."""
    return tuple(hit.chunk_id for hit in lists[SeedList.TEXT_DENSE][:NEAREST])


def fuse_lists(lists: Lists, route: Route, telling: Collection[str] = ()) -> tuple[Hit, ...]:
    """Fuse by `sum(weight / (60 + rank))`, rank from 1; order (-round(score, 6), id).

    Args: telling: chunks with a code of the question that names a thing by itself, a list beside the others.
    Source: Cormack, Clarke, Buettcher, SIGIR 2009 (the constant 60); weights by route.
    """
    held = [hit for hit in lists[SeedList.CODES] if hit.chunk_id in telling]
    weighed = [(WEIGHTS[route][name], lists[name]) for name in SeedList]
    scores: dict[str, float] = {}
    docs: dict[str, str] = {}
    for weight, hits in (*weighed, (TELLING, held)):
        for rank, hit in enumerate(hits if weight else (), start=1):
            docs[hit.chunk_id] = hit.doc
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + weight / (RRF_K + rank)
    bias = PDF_BIAS if route is Route.PDF else 1.0
    fused = [
        Hit(chunk_id=chunk, doc=docs[chunk], score=score * (bias if docs[chunk].startswith(PDF) else 1))
        for chunk, score in scores.items()
    ]
    return tuple(sorted(fused, key=lambda hit: (-round(hit.score, 6), hit.chunk_id)))


def balance_pool(
    ranked: Iterable[Hit], *, pool: int = POOL, per_document: int = PER_DOCUMENT, per_pdf: int = PER_PDF
) -> tuple[Hit, ...]:
    """Keep the best *pool* hits with at most so many of one document, refilled in order if short."""
    seen: Counter[str] = Counter()
    kept: list[Hit] = []
    skipped: list[Hit] = []
    for hit in ranked:
        seen[hit.doc] += 1
        most = per_pdf if hit.doc.startswith(PDF) else per_document
        (kept if seen[hit.doc] <= most else skipped).append(hit)
    return tuple((kept + skipped)[:pool])
