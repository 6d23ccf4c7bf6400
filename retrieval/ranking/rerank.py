"""A cross-encoder's word on the best candidates, and that of late interaction."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from statistics import median

import numpy as np

from indexes.ports import Reranker, TokenVectors, Vector
from retrieval.question.ids import means
from retrieval.question.words import id_tokens
from retrieval.ranking.score import Scored
from schemas.evidence import Evidence
from schemas.nodes import Chunk

DEPTH = 20
LOGIT_SPAN = 10.0
"""About the largest logit of ms-marco-MiniLM, so that one of a clear hit counts about 1."""
SCORE_WEIGHT = 8.0
PAGE_SCORE_WEIGHT = 1.0
"""Chunks of a page answer by themselves more often than those of linked articles: the logit says more."""
ALONE_DEPTH = 30
ALONE_SCORE_WEIGHT = 2.0
"""Where the graph says nothing, a chunk answers by itself or not at all, and the logit says most (measured on
six manuals: hit@1 66 without a cross-encoder, 74 so; weights of .1 to 2 give nearly the same. On four others
hit@1 is 47 without, 50 with .5, 54 with 2)."""
PAGE, ALONE = "page", "alone"
_SCORE_WEIGHTS = {PAGE: PAGE_SCORE_WEIGHT, ALONE: ALONE_SCORE_WEIGHT}


def rerank_best(
    reranker: Reranker,
    query: str,
    candidates: Collection[Scored],
    leading: Mapping[str, Chunk],
    *,
    pages: Mapping[str, str] | None = None,
    by_role: bool = True,
) -> tuple[Scored, ...]:
    """Reorder the best 20 by `logit / 10 + 8 * score`, each role keeping the places it holds.

    A cross-encoder sees one chunk at a time and would throw out what only makes sense beside another:
    sorted freely, 2Wiki's R@5 falls from 95 to 77. So roles keep their places, a bridge is read after the
    chunk that leads to it, and the score keeps a say: 2Wiki's R@5 is 89 by logit alone, 94 with the
    chunk before it, 96 with all.

    What stands in PDFs is judged by page: of each the best chunk, read with the rest of its page, and
    all pages together keep the places of PDFs (measured: MMLongBench R@5 43 by chunks, 48 by pages).

    A chunk of a document whose own id the question names is read with that id: without it "who runs the vault
    according to ADR-0042" had a logit of .1 beside the passage that says it, and has one of 6.9.

    Where the graph told no documents apart, roles say nothing either: without *by_role* the best 30 are
    ordered by `logit / 10 + 2 * score`, whatever their role.

    Args: leading: chunks by id, those that paths to the candidates name. pages: what else stands on the page
    of a chunk, by its id. by_role: whether the graph tells documents apart (`Spread.tells`).
    """
    best, rest = divide(candidates, by_role=by_role)
    tokens = id_tokens(query)
    texts = [_pair_text(one, leading, (pages or {}).get(one.chunk.id, ""), tokens) for one in best]
    logits = reranker.score_pairs(query, texts)
    judged = [replace(one, logit=logit) for one, logit in zip(best, logits, strict=True)]
    queued = [(_queue(one, by_role=by_role), one) for one in judged]
    queues = {name: _best_first(queued, name) for name in sorted({name for name, _ in queued})}
    placed = [replace(queues[name].pop(0), place=place) for place, (name, _) in enumerate(queued)]
    return (*placed, *(replace(one, place=len(placed)) for one in rest))


def divide(candidates: Collection[Scored], *, by_role: bool = True) -> tuple[list[Scored], list[Scored]]:
    """Return those to read, of each page of a PDF its best chunk alone, and the rest; both in rank order."""
    ranked = sorted(candidates, key=lambda one: one.rank_key)
    first: dict[tuple[str, int | str], Scored] = {}
    for one in ranked:
        first.setdefault((one.chunk.doc, one.chunk.page_no or one.chunk.id), one)
    best = list(first.values())[: DEPTH if by_role else ALONE_DEPTH]
    chosen = {one.chunk.id for one in best}
    return best, [one for one in ranked if one.chunk.id not in chosen]


def _queue(one: Scored, *, by_role: bool) -> str:
    if one.chunk.page_no:
        return PAGE
    return one.role if by_role else ALONE


def _best_first(queued: Collection[tuple[str, Scored]], name: str) -> list[Scored]:
    """Return the candidates of one queue; of equals the one with the better place stays first."""
    weight = _SCORE_WEIGHTS.get(name, SCORE_WEIGHT)
    ours = [one for queue, one in queued if queue == name]
    return sorted(ours, key=lambda one: -round((one.logit or 0.0) / LOGIT_SPAN + weight * one.score, 6))


def leading_chunk(one: Scored) -> str | None:
    """Return the id of the chunk whose words led to a bridge, where another than itself did."""
    said_by = [step.chunk for step in one.path if step.chunk and step.chunk != one.chunk.id]
    return said_by[-1] if said_by and one.role == "bridge" else None


def _pair_text(one: Scored, leading: Mapping[str, Chunk], page: str, tokens: Collection[str]) -> str:
    before = leading.get(leading_chunk(one) or "")
    texts = [_text_with_id(chunk, tokens) for chunk in (before, one.chunk) if chunk]
    return "\n".join((*texts, *((page,) if page else ())))


def _text_with_id(chunk: Chunk, tokens: Collection[str]) -> str:
    own = chunk.doc_id
    is_named = own is not None and any(means(token, own) for token in tokens)
    return f"{own} > {passage_text(chunk)}" if is_named else passage_text(chunk)


def passage_text(passage: Chunk | Evidence, part: str | None = None) -> str:
    """Return what the cross-encoder reads: the headings above a passage, and its text or a *part* of it."""
    text = passage.text if part is None else part
    trail = " > ".join(passage.heading_path or passage.breadcrumbs)
    return f"{trail}\n{text}" if trail else text


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
