"""The nearest chunks of each: carried from one generation to the next, compared where something is new."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ingest.link.chunk_columns import ChunkColumns, Hashes, Vectors, all_but, columns_of, corpus_of, read_at
from ingest.link.nearest import (
    SCALE,
    Corpus,
    Floats,
    Ints,
    NearestChunks,
    Screen,
    all_others,
    join,
    lowest_cosine,
    no_neighbours,
    renumber,
    run_out,
    scores_of,
    search_again,
    slack_of,
)
from schemas.edges import NEAR_DUPLICATE

MOST_LOOKED_UP = 1 / 8
"""Beyond this share of the chunks, to read all vectors in their order takes less than to look some up."""


class Codes(Protocol):
    """Short forms of the vectors of texts, by the hash of the text; any may be lost."""

    def clear(self) -> None:
        """Drop them all."""

    def add(self, texts: Hashes, vectors: Floats) -> None:
        """Keep those of unit vectors, shape (n, dim)."""

    def near(self, vectors: Floats, cosine: float) -> tuple[Hashes, Hashes]:
        """Return the texts that have a code, ascending, some twice, and those among them that may be near.

        Near is what comes to *cosine* with one of some unit vectors, shape (n, dim): none of it is left out.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedVectors:
    """Codes, and what reads the vectors of chunks by id, some at a time: distinct ids, and shape (n, dim)."""

    codes: Codes
    look_up: Callable[[Sequence[str]], Iterator[tuple[Sequence[str], Floats]]]

    def at(self, chunks: ChunkColumns, places: Ints) -> Vectors:
        """Those of the chunks at some places."""
        return lambda: self.look_up([id_.decode() for id_ in chunks.ids[places].tolist()])


def near_to(
    new: Corpus, coded: CodedVectors, vectors: Vectors, chunks: ChunkColumns, places: Ints, *, least: int
) -> Iterator[Corpus]:
    """Read those of the chunks at all other places that may be near to a *new* one.

    Those that have no code are read too, and get one.

    Args: least: the lowest score of what is near, in ten-thousandths.
    """
    if not len(new.places):
        return iter(())
    bound = float(lowest_cosine(np.array(least), slack_of(new.vectors)))
    known, near = coded.codes.near(new.vectors, bound)
    texts = np.sort(chunks.texts)
    lacking = texts[~_are_among(texts, known)]
    may_be_near = np.isin(chunks.texts, np.concatenate([lacking, near]))
    may_be_near[places] = False
    at = np.flatnonzero(may_be_near)
    if len(at) <= MOST_LOOKED_UP * len(may_be_near):
        parts = read_at(coded.at(chunks, at), chunks, at)
    else:
        parts = read_at(vectors, chunks, all_others(len(may_be_near), places))
    return _coding(parts, chunks, lacking, coded.codes)


def _are_among(texts: Hashes, known: Hashes) -> npt.NDArray[np.bool_]:
    """Which of *texts* are *known*, which ascend: `np.isin` would sort those each time."""
    if not len(known):
        return np.zeros(len(texts), bool)
    at = np.minimum(np.searchsorted(known, texts), len(known) - 1)
    found: npt.NDArray[np.bool_] = known[at] == texts
    return found


def _coding(parts: Iterator[Corpus], chunks: ChunkColumns, lacking: Hashes, codes: Codes) -> Iterator[Corpus]:
    for part in parts:
        texts = chunks.texts[part.places]
        new = _are_among(texts, lacking)
        if new.any():
            codes.add(texts[new], part.vectors[new])
        yield part


SPARE = 3
"""So many times the neighbours that become edges are kept, so that one lost is replaced without a search."""
FEW = 128
"""So many chunks are compared with all by codes, a quarter of the bytes, but by products of float32; with
more of them a screen over the vectors takes less."""
SCREENED = 50_000_000
"""Pairs from which on a screen is worth opening, which takes .06 s; their products in float32 take .35 s."""

OpenScreen = Callable[[], Screen | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """At most *count* edges from a chunk, each of at least *least* ten-thousandths; one model's vectors."""

    count: int
    least: int
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """All chunks of a generation, and the nearest of each."""

    rule: Rule
    chunks: ChunkColumns
    neighbours: NearestChunks

    @property
    def nearest(self) -> Ints:
        """The neighbours that are edges, shape (n, count)."""
        return self.neighbours.known[:, : self.rule.count]

    @property
    def near_duplicates(self) -> int:
        """How many edges lead to a chunk that says nearly the same."""
        return int((scores_of(self.nearest) >= round(NEAR_DUPLICATE * SCALE)).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Chunks of the next generation, and how many of them were compared with all others, and once more."""

    similarity: Similarity
    searched: int
    searched_again: int


def nothing_similar(rule: Rule) -> Similarity:
    """What is known of an index without chunks."""
    return Similarity(rule=rule, chunks=columns_of(()), neighbours=no_neighbours(0, width=SPARE * rule.count))


def compare_chunks(
    base: Similarity,
    chunks: ChunkColumns,
    *,
    rule: Rule,
    vectors: Vectors,
    coded: CodedVectors | None = None,
    screen: OpenScreen = lambda: None,
) -> Compared:
    """Return the nearest of each chunk, as comparing all with all would, from what is known at *base*.

    *vectors* are read only where something has to be compared, few of them where little is and they are
    *coded*; a screen is opened only where that is much.
    """
    fresh, neighbours = _carry_over(base, chunks, rule)
    reading = _Reading(
        chunks=chunks, fresh=fresh, vectors=vectors, coded=coded, least=rule.least, open_screen=screen
    )
    # Threads that share products of this size wait for each other more than they work: a third of the CPU
    # time with one, and on a busy machine less of the clock too.
    from threadpoolctl import threadpool_limits  # who goes back to a generation compares nothing

    with threadpool_limits(limits=1, user_api="blas"):
        new = corpus_of(vectors, chunks, fresh)
        if len(new.places):
            reading.keep_codes(new)
            screened = reading.screen_for(fresh)
            join(neighbours, new, reading.others_of(new), least=rule.least, screen=screened)
        lost = run_out(neighbours, wanted=rule.count)
        if len(lost):
            corpus = reading.at(lost)
            everyone, screened = chain((new,), reading.others_of(corpus)), reading.screen_for(lost)
            search_again(neighbours, corpus, everyone, least=rule.least, screen=screened)
    similarity = Similarity(rule=rule, chunks=chunks, neighbours=neighbours)
    return Compared(similarity=similarity, searched=len(fresh), searched_again=len(lost))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How vectors are read: of chunks that are not *fresh*, and of all that may be near to some."""

    chunks: ChunkColumns
    fresh: Ints
    vectors: Vectors
    coded: CodedVectors | None
    least: int
    open_screen: OpenScreen

    def keep_codes(self, new: Corpus) -> None:
        """Keep the codes of the fresh chunks; where all are fresh, of no others."""
        if self.coded:
            if len(self.fresh) == len(self.chunks.ids):
                self.coded.codes.clear()
            self.coded.codes.add(self.chunks.texts[new.places], new.vectors)

    def screen_for(self, places: Ints) -> Screen | None:
        """Open a screen where so many chunks are compared with all vectors that it pays."""
        by_codes = self.coded and len(places) <= FEW
        many = len(places) * len(self.chunks.ids) >= SCREENED
        return self.open_screen() if many and not by_codes else None

    def at(self, places: Ints) -> Corpus:
        """Read the chunks at some places that are not fresh."""
        few = self.coded if len(places) <= FEW else None
        vectors = few.at(self.chunks, places) if few else self.vectors
        return corpus_of(vectors, self.chunks, places)

    def others_of(self, corpus: Corpus) -> Iterator[Corpus]:
        """Read all chunks that may be near to those of *corpus*, but for the fresh ones."""
        if self.coded and len(corpus.places) <= FEW:
            return near_to(corpus, self.coded, self.vectors, self.chunks, self.fresh, least=self.least)
        return all_but(self.vectors, self.chunks, self.fresh)


def _carry_over(base: Similarity, chunks: ChunkColumns, rule: Rule) -> tuple[Ints, NearestChunks]:
    """Places of the chunks of which nothing is known, and what is known of the others."""
    if base.rule != rule:
        nothing = no_neighbours(len(chunks.ids), width=SPARE * rule.count)
        return np.arange(len(chunks.ids)), nothing
    place, bound = places_among(base.chunks, chunks)
    same = place >= 0
    for name in ("sections", "texts"):
        same[same] = getattr(base.chunks, name)[same] == getattr(chunks, name)[place[same]]
    kept = np.where(same, place, -1)
    neighbours = renumber(base.neighbours, place=kept, bound=np.append(bound, len(chunks.ids)))
    return all_others(len(chunks.ids), place[same]), neighbours


def places_among(base: ChunkColumns, chunks: ChunkColumns) -> tuple[Ints, Ints]:
    """The place of each of *base* among *chunks*, by id, -1 where it is not; and how many stand before it."""
    before = np.searchsorted(chunks.ids, base.ids)
    there = before < len(chunks.ids)
    there[there] = chunks.ids[before[there]] == base.ids[there]
    return np.where(there, before, -1), before
