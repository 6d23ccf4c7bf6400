"""Late interaction: each token of a question finds the one of a passage that is nearest to it.

Source: Khattab, Zaharia, "ColBERT: efficient and effective passage search via contextualized late
interaction over BERT", SIGIR 2020, here over the vectors of the encoder that an index has anyway.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from statistics import median

import numpy as np

from indexes.ports import TokenVectors, Vector
from retrieval.ranking.score import Scored

SHARE = 0.5
"""Of a chunk's text score. Measured on four manuals; from .5 to .75 nearly the same."""
AMONG = 200
"""Best candidates that are compared; most questions have fewer."""
_DECIMALS = 6


def max_similarities(asked: Vector, tokens: Mapping[str, TokenVectors]) -> dict[str, float]:
    """Return of each chunk the mean, over a question's tokens, of the largest cosine with one of its own.

    Args: asked: (n, dim), unit length. tokens: (k, dim) by chunk id, k not 0.
    """
    return {
        chunk: round(float((vectors.astype(np.float32) @ asked.T).max(axis=0).mean()), _DECIMALS)
        for chunk, vectors in tokens.items()
    }


def weigh_similarities(candidates: Collection[Scored], similarity: Mapping[str, float]) -> tuple[Scored, ...]:
    """Let the similarity make up half of the text score; give the candidates in their new order.

    It counts from the median of the candidates, 0, to the best of them, 1: what is below the median, or has
    no token vectors, says nothing. Where all are alike nothing changes.
    """
    top, middle = max(similarity.values(), default=0.0), median(similarity.values()) if similarity else 0.0
    if top <= middle:
        return tuple(candidates)

    def weigh(one: Scored) -> Scored:
        above = max(0.0, similarity.get(one.chunk.id, 0.0) - middle) / (top - middle)
        text = (1 - SHARE) * one.scores.text + SHARE * above
        return replace(one, scores=replace(one.scores, text=round(text, _DECIMALS)))

    return tuple(sorted(map(weigh, candidates), key=lambda one: one.rank_key))


def most_similar(similarity: Mapping[str, float], *, limit: int) -> tuple[str, ...]:
    """Return the *limit* most similar chunks, by (-similarity, id)."""
    return tuple(sorted(similarity, key=lambda chunk: (-similarity[chunk], chunk))[:limit])
