"""Base score of chunks: how well the text alone answers, on one scale for found and for reached chunks."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain

from indexes.ports import ChunkReader
from retrieval.question.route import Known, Route, names_things
from retrieval.search.seeds import EmbeddedQuery, Lists, SeedList, run_in_parallel
from schemas.evidence import Filter, Hit, SearchField

WORD_FIELDS = (SearchField.TEXT, SearchField.HEADING)
"""Where words count."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What words count beside sense, in [0, 1], and in headings beside texts."""

    words: float
    headings: float


NAMED, OWN_WORDS = Balance(0.5, 0.5), Balance(0.35, 0.25)
"""Of a question that names things, and of one in the asker's own words. Passages of encyclopedias want their
title, and their questions name it (2Wiki's R@5 is 94 with it, 91 without); on documentation tasks are told in
words that the page does not have (bench/RESULTS.md)."""


def balance_of(asked: EmbeddedQuery) -> Balance:
    """Return what suits a question."""
    return NAMED if names_things(asked.query.text) else OWN_WORDS


CHUNKS_MAX = 2000
"""Chunks scored in one look at some documents; the rest of a huge document scores as far away."""

LEAST_SPREAD = 1 / 3
"""Of the way from an unrelated text to the same text: so much lies at least between the nearest passage and
what counts as unrelated (docs/decisions/0021-encoders-by-name.md)."""

Base = Mapping[str, float]

_NAMES = (SeedList.HEADING_BM25, SeedList.HEADING_DENSE, SeedList.ANCHOR_BM25)


def _share(value: float, largest: float) -> float:
    return min(1.0, max(0.0, value) / largest) if largest > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The best BM25 score and cosine of the whole index under the query's filters.

    `unrelated`: the cosine of texts that have nothing to do with each other, where the encoder has one.
    """

    bm25: float
    cosine: float
    unrelated: float = 0.0
    balance: Balance = NAMED

    def base(self, bm25: float, cosine: float) -> float:
        """Return `.5 * bm25/max + .5 * max(0, cosine)/max`, or by another balance; BM25 of text and headings.

        The minimum is not subtracted (measured worse), but what unrelated texts have is, since an encoder
        whose cosines begin at .5 would have no say otherwise (docs/decisions/0021-encoders-by-name.md).
        """
        words, sense = self.bm25, self.cosine - self.unrelated
        cosine -= self.unrelated
        by_words = _share(bm25, words)
        return self.balance.words * by_words + (1 - self.balance.words) * _share(cosine, sense)


def scale_of(lists: Lists, asked: EmbeddedQuery) -> Scale:
    """Read the scale from the best hits of the text lists."""
    balance = balance_of(asked)
    words = add_words((lists[SeedList.TEXT_BM25], lists[SeedList.HEADING_BM25]), balance)
    return Scale(
        bm25=max(words.values(), default=0.0),
        cosine=(nearest := _best(lists[SeedList.TEXT_DENSE])),
        unrelated=begin_of_scale(asked.unrelated, nearest),
        balance=balance,
    )


def begin_of_scale(unrelated: float, nearest: float) -> float:
    """Return what is taken off cosines: what *unrelated* texts have, or less where nothing is much nearer.

    Passages in another language than the question are further from it than unrelated ones in its own.
    """
    return min(unrelated, nearest - LEAST_SPREAD * (1.0 - unrelated)) if unrelated else 0.0


def add_words(lists: Iterable[Collection[Hit]], balance: Balance) -> dict[str, float]:
    """Add up what chunks have by words, a list for each of `WORD_FIELDS`."""
    total: dict[str, float] = {}
    for weight, hits in zip((1.0, balance.headings), lists, strict=True):
        for hit in hits:
            total[hit.chunk_id] = total.get(hit.chunk_id, 0.0) + weight * hit.score
    return total


def best_scores(hits: Iterable[Hit]) -> dict[str, float]:
    """Return the score of each chunk."""
    return {hit.chunk_id: hit.score for hit in hits}


def _best(hits: tuple[Hit, ...]) -> float:
    return hits[0].score if hits else 0.0


def measure_base(
    chunks: ChunkReader, asked: EmbeddedQuery, docs: Collection[str], scale: Scale
) -> dict[str, dict[str, float]]:
    """Score the chunks of *docs* that pass the query's filters: document id > chunk id > base in [0, 1].

    A filter leaves BM25 and cosine of a row unchanged, so these compare with the seeds'. Documents
    without a chunk that passes the filters are absent.
    """
    if not docs:
        return {}
    only = (Filter(field="doc", values=tuple(sorted(docs))),)
    words = [partial(asked.bm25, chunks, field, top_k=CHUNKS_MAX, only=only) for field in WORD_FIELDS]
    dense = partial(asked.dense, chunks, SearchField.TEXT, top_k=CHUNKS_MAX, only=only)
    near, *matching = run_in_parallel([dense, *words])
    cosine, bm25 = best_scores(near), add_words(matching, scale.balance)
    scores: dict[str, dict[str, float]] = {}
    for hit in chain(near, *matching):
        base = scale.base(bm25.get(hit.chunk_id, 0.0), cosine.get(hit.chunk_id, 0.0))
        scores.setdefault(hit.doc, {})[hit.chunk_id] = base
    return scores


def best_chunks(base: Base, *, limit: int) -> tuple[str, ...]:
    """Return the *limit* best chunk ids of one document, by (-round(base, 6), id)."""
    return tuple(sorted(base, key=lambda chunk: (-round(base[chunk], 6), chunk))[:limit])


def document_base(scores: Mapping[str, Base]) -> dict[str, float]:
    """Return the base of each document's best chunk."""
    return {doc: max(base.values()) for doc, base in scores.items()}


def lift_of(route: Route, lists: Lists, known: Known) -> Base | None:
    """Return what else than its text speaks for a chunk, in [0, 1]; None where the text alone counts.

    A question after an id or code is first one after the chunks that contain it, exactly; one after a place
    is first one after headings and link texts.
    """
    if route is Route.ID:
        return _shares_held(known.holders)
    if route is Route.NAVIGATION:
        return _best_share(lists, _NAMES)
    return None


def telling_of(route: Route, known: Known) -> Base:
    """Return what share of the codes that name a thing by themselves a chunk has, beside other words."""
    return {} if route is Route.ID else _shares_held(known.telling)


def _shares_held(holders: Mapping[str, Collection[str]]) -> dict[str, float]:
    held = Counter(chunk for chunks in holders.values() for chunk in chunks)
    return {chunk: number / len(holders) for chunk, number in held.items()}


def _best_share(lists: Lists, names: tuple[SeedList, ...]) -> dict[str, float]:
    """Return each chunk's best share of a list's top score."""
    best: dict[str, float] = {}
    for name in names:
        top = _best(lists[name])
        for hit in lists[name]:
            best[hit.chunk_id] = max(best.get(hit.chunk_id, 0.0), _share(hit.score, top))
    return best


class Measure:
    """Scores documents once each, in one look for all that are asked together.

    Args: lift: takes half of each score where it is given (`lift_of`). telling: raises the scores of chunks
    and takes nothing from any (`telling_of`).
    """

    def __init__(
        self,
        chunks: ChunkReader,
        asked: EmbeddedQuery,
        scale: Scale,
        lift: Base | None = None,
        telling: Base | None = None,
    ) -> None:
        self._chunks, self._asked, self._scale = chunks, asked, scale
        self._lift, self._telling = lift, telling or {}
        self._scores: dict[str, dict[str, float]] = {}

    def of(self, docs: Collection[str]) -> dict[str, Base]:
        """Return the chunk scores of those of *docs* that have a chunk under the query's filters."""
        new = [doc for doc in docs if doc not in self._scores]
        found = measure_base(self._chunks, self._asked, new, self._scale)
        self._scores |= {doc: self._lifted(found.get(doc, {})) for doc in new}
        return {doc: self._scores[doc] for doc in sorted(set(docs)) if self._scores[doc]}

    def documents(self, docs: Collection[str]) -> dict[str, float]:
        """Return the base of the best chunk of each."""
        return document_base(self.of(docs))

    def _lifted(self, base: dict[str, float]) -> dict[str, float]:
        lift = self._lift
        if lift is not None:
            base = {chunk: 0.5 * score + 0.5 * lift.get(chunk, 0.0) for chunk, score in base.items()}
        return {chunk: self._raised(chunk, score) for chunk, score in base.items()}

    def _raised(self, chunk: str, score: float) -> float:
        share = self._telling.get(chunk)
        return score if share is None else min(1.0, score * (1 + share))
