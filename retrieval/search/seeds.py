"""Seeds: one ranked list a field, fused by weighted reciprocal rank, balanced over documents."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeVar

from indexes.ports import ChunkReader, Vector
from retrieval.question.catalogue import codes_to_search
from retrieval.question.route import Route, names_things
from retrieval.question.words import searched_words
from schemas.evidence import Filter, Hit, Query, SearchField
from schemas.nodes import Chunk

THREADS = 4

T = TypeVar("T")


def run_in_parallel(asks: Sequence[Callable[[], T]]) -> list[T]:
    """Call all of *asks* in threads; give their answers in the order of *asks*, or raise the first error."""
    if len(asks) < 2:
        return [ask() for ask in asks]
    with ThreadPoolExecutor(min(THREADS, len(asks)), thread_name_prefix="search") as threads:
        return list(threads.map(lambda ask: ask(), asks))


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
        """Search *field* by words, under the query's filters and *only*.

        Stop words are searched for in texts alone, where the question is in own words.
        """
        text = self.query.text
        words = text if field is SearchField.TEXT and not names_things(text) else searched_words(text)
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


def found_nearest(lists: Lists, *, of_pdfs: bool = False) -> tuple[str, ...]:
    """Return the ten chunks whose text is nearest by cosine, best first, or those of them in PDFs."""
    nearest = lists[SeedList.TEXT_DENSE][:NEAREST]
    return tuple(hit.chunk_id for hit in nearest if not of_pdfs or hit.doc.startswith(PDF))


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


def balance_pool(ranked: Iterable[Hit], *, pool: int = POOL) -> tuple[Hit, ...]:
    """Keep the best *pool* hits with at most so many of one document, refilled in order if short."""
    seen: Counter[str] = Counter()
    kept: list[Hit] = []
    skipped: list[Hit] = []
    for hit in ranked:
        seen[hit.doc] += 1
        most = PER_PDF if hit.doc.startswith(PDF) else PER_DOCUMENT
        (kept if seen[hit.doc] <= most else skipped).append(hit)
    return tuple((kept + skipped)[:pool])


ON_PAGES_MAX = 2000


def read_same_pages(chunks: ChunkReader, asked: EmbeddedQuery, found: Collection[Chunk]) -> Mapping[str, str]:
    """Return by chunk the rest of its page: what follows it, then what comes before; one search for all.

    Chunks that stand in no PDF are left out, and what the filters of the query leave out is no rest.
    """
    wanted = {(one.doc, one.page_no): one for one in found if one.page_no}
    if not wanted:
        return {}
    only = (
        Filter(field="doc", values=tuple(sorted({doc for doc, _ in wanted}))),
        Filter(field="page_no", values=tuple(sorted({str(page) for _, page in wanted}))),
    )
    hits = asked.dense(chunks, SearchField.TEXT, top_k=ON_PAGES_MAX, only=only)
    on_pages: dict[tuple[str, int | None], list[Chunk]] = {}
    for chunk in chunks.get([hit.chunk_id for hit in hits]):
        on_pages.setdefault((chunk.doc, chunk.page_no), []).append(chunk)
    return {one.id: _rest(one, on_pages.get(place, [])) for place, one in sorted(wanted.items())}


def _rest(chunk: Chunk, page: Collection[Chunk]) -> str:
    ordered = sorted(page, key=lambda one: (one.ordinal, one.id))
    later = [one.text for one in ordered if one.ordinal > chunk.ordinal]
    earlier = [one.text for one in ordered if one.ordinal < chunk.ordinal]
    return "\n".join((*later, *earlier))
