"""Hard negatives: chunks that a question finds and that do not answer it, to train an encoder by."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from indexes.ports import ChunkReader, Reranker
from retrieval.graph.expansion import NEAR_DUPLICATE
from retrieval.learning.questions import gold_names
from retrieval.learning.usage import Usage
from retrieval.question.words import fold
from retrieval.ranking.duplicates import say_the_same
from retrieval.ranking.rerank import passage_text
from retrieval.retriever import RetrievalResult
from schemas.evidence import Query
from schemas.nodes import Chunk
from schemas.text import encoded_text

RANKS = (4, 30)
"""The first three may answer as well, and beyond thirty nothing is hard."""
MARGIN = 0.5
"""A negative's logit lies at least this far below the positive's."""
REJECTED = -2.2
"""A negative's logit lies below this too, a probability of .1: what the cross-encoder does not reject may
answer as well (RocketQA, Qu et al., 2021, denoised hard negatives)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A question, and what answers it: chunks that were followed, or documents known to."""

    text: str
    chunks: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Triplet:
    """A row of a training file of sentence-transformers; texts as the encoder is given them."""

    anchor: str
    positive: str
    negative: str


def followed_questions(usage: Usage) -> tuple[Wanted, ...]:
    """Return each question of which a citation was followed, in the order of their first clicks."""
    chunks: dict[str, dict[str, None]] = {}
    for click in usage.clicks:
        if click["query"].strip():
            chunks.setdefault(click["query"], {})[click["chunk_id"]] = None
    return tuple(Wanted(text=text, chunks=tuple(sorted(ids))) for text, ids in chunks.items())


def merge_wanted(wanted: Collection[Wanted]) -> tuple[Wanted, ...]:
    """Join what answers the same question, whatever its case and punctuation, in the order of the first."""
    merged: dict[str, Wanted] = {}
    for one in wanted:
        known = merged.get(fold(one.text), Wanted(text=one.text))
        merged[fold(one.text)] = Wanted(
            text=known.text,
            chunks=tuple(dict.fromkeys((*known.chunks, *one.chunks))),
            documents=tuple(dict.fromkeys((*known.documents, *one.documents))),
        )
    return tuple(merged.values())


def mine_negatives(
    wanted: Collection[Wanted],
    walk: Callable[[Query], RetrievalResult],
    *,
    chunks: ChunkReader,
    reranker: Reranker,
) -> Iterator[Triplet]:
    """Yield a row for each chunk at rank 4 to 30 of a question that is not its answer, best first.

    What answers a question counts for it however often and by whomever it was asked. Not taken: chunks of the
    section of an answer, or of a document known to answer; near-duplicates of an answer (cosine from .95, or
    the same in words); and what the cross-encoder does not reject, or finds nearly as good as the answer. An
    answer that this generation does not contain any more gives no rows.
    """
    for one in merge_wanted(wanted):
        ranked = [found.chunk for found in walk(Query(text=one.text)).candidates[: RANKS[1]]]
        positives = _positives(one, ranked, chunks)
        others = [chunk for chunk in ranked[RANKS[0] - 1 :] if not _answers(chunk, one, positives)]
        if positives and others:
            yield from _rows(one.text, positives, _unlike(others, positives, chunks), reranker)


def _positives(one: Wanted, ranked: Sequence[Chunk], chunks: ChunkReader) -> list[Chunk]:
    """Return the chunks that were followed, and the best found of each document known to answer."""
    positives = list(chunks.get(one.chunks))
    for document in one.documents:
        positives += [chunk for chunk in ranked if document in gold_names(chunk)][:1]
    return list({chunk.id: chunk for chunk in positives}.values())


def _answers(chunk: Chunk, one: Wanted, positives: Sequence[Chunk]) -> bool:
    ids = {positive.id for positive in positives}
    sections = {positive.section_id for positive in positives if positive.section_id}
    known = not set(one.documents).isdisjoint(gold_names(chunk))
    return chunk.id in ids or chunk.section_id in sections or known


def _unlike(others: Sequence[Chunk], positives: Sequence[Chunk], chunks: ChunkReader) -> list[Chunk]:
    vectors = chunks.vectors([chunk.id for chunk in (*others, *positives)])
    said = [vectors[chunk.id].text for chunk in positives]
    return [
        chunk
        for chunk in others
        if all(float(np.dot(vectors[chunk.id].text, one)) < NEAR_DUPLICATE for one in said)
        and not any(say_the_same(chunk, positive) for positive in positives)
    ]


def _rows(
    question: str, positives: Sequence[Chunk], others: Sequence[Chunk], reranker: Reranker
) -> Iterator[Triplet]:
    logits = reranker.score_pairs(question, [passage_text(chunk) for chunk in (*positives, *others)])
    for positive, best in zip(positives, logits, strict=False):
        for chunk, logit in zip(others, logits[len(positives) :], strict=True):
            if logit < min(best - MARGIN, REJECTED):
                yield Triplet(anchor=question, positive=_encoded(positive), negative=_encoded(chunk))


def _encoded(chunk: Chunk) -> str:
    return encoded_text(chunk.heading_path, chunk.text)
