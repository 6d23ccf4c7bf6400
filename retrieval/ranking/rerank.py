"""A cross-encoder's word on the best candidates, within the role each one has; of a PDF on its pages."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from indexes.ports import Reranker
from retrieval.ranking.score import Scored
from schemas.nodes import Chunk

DEPTH = 20
LOGIT_SPAN = 10.0
"""About the largest logit of ms-marco-MiniLM, so that one of a clear hit counts about 1."""
SCORE_WEIGHT = 8.0
PAGE_SCORE_WEIGHT = 1.0
"""Chunks of a page answer by themselves more often than those of linked articles: the logit says more."""
PAGE = "page"


def rerank_within_roles(
    reranker: Reranker,
    query: str,
    candidates: Collection[Scored],
    leading: Mapping[str, Chunk],
    *,
    pages: Mapping[str, str] | None = None,
) -> tuple[Scored, ...]:
    """Reorder the best 20 by `logit / 10 + 8 * score`, each role keeping the places it holds.

    A cross-encoder sees one chunk at a time and would throw out what only makes sense beside another:
    sorted freely, 2Wiki's R@5 falls from 95 to 77. So roles keep their places, a bridge is read after the
    chunk that leads to it, and the score keeps a say: 2Wiki's R@5 is 89 by logit alone, 94 with the
    chunk before it, 96 with all.

    What stands in PDFs is judged by page: of each the best chunk, read with the rest of its page, and
    all pages together keep the places of PDFs (measured: MMLongBench R@5 43 by chunks, 48 by pages).

    Args: leading: chunks by id, those that paths to the candidates name. pages: what else stands on the page
    of a chunk, by its id.
    """
    best, rest = divide(candidates)
    texts = [_pair_text(one, leading, (pages or {}).get(one.chunk.id, "")) for one in best]
    logits = reranker.score_pairs(query, texts)
    judged = [replace(one, logit=logit) for one, logit in zip(best, logits, strict=True)]
    queues = {queue: _best_first(judged, queue) for queue in sorted({_queue(one) for one in judged})}
    placed = [replace(queues[_queue(one)].pop(0), place=place) for place, one in enumerate(judged)]
    return (*placed, *(replace(one, place=len(placed)) for one in rest))


def divide(candidates: Collection[Scored]) -> tuple[list[Scored], list[Scored]]:
    """Return the best 20, of each page of a PDF its best chunk alone, and the rest; both in rank order."""
    ranked = sorted(candidates, key=lambda one: one.rank_key)
    first: dict[tuple[str, int | str], Scored] = {}
    for one in ranked:
        first.setdefault((one.chunk.doc, one.chunk.page_no or one.chunk.id), one)
    best = list(first.values())[:DEPTH]
    chosen = {one.chunk.id for one in best}
    return best, [one for one in ranked if one.chunk.id not in chosen]


def _queue(one: Scored) -> str:
    return PAGE if one.chunk.page_no else one.role


def _best_first(judged: list[Scored], queue: str) -> list[Scored]:
    """Return candidates of one role, or all pages; of equals the one with the better place stays first."""
    weight = PAGE_SCORE_WEIGHT if queue == PAGE else SCORE_WEIGHT
    queued = [one for one in judged if _queue(one) == queue]
    return sorted(queued, key=lambda one: -round((one.logit or 0.0) / LOGIT_SPAN + weight * one.score, 6))


def leading_chunk(one: Scored) -> str | None:
    """Return the id of the chunk whose words led to a bridge, where another than itself did."""
    said_by = [step.chunk for step in one.path if step.chunk and step.chunk != one.chunk.id]
    return said_by[-1] if said_by and one.role == "bridge" else None


def _pair_text(one: Scored, leading: Mapping[str, Chunk], page: str) -> str:
    before = leading.get(leading_chunk(one) or "")
    return "\n".join(
        (*((text_of(before),) if before else ()), text_of(one.chunk), *((page,) if page else ()))
    )


def text_of(chunk: Chunk) -> str:
    """Return what the cross-encoder reads: where the chunk stands, and the chunk."""
    trail = " > ".join(chunk.heading_path or chunk.breadcrumbs)
    return f"{trail}\n{chunk.text}" if trail else chunk.text
