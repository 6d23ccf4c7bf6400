"""Which piece of evidence a sentence rests on, by a cross-encoder."""

from collections.abc import Sequence
from dataclasses import dataclass

from indexes.ports import Reranker
from retrieval.ranking.rerank import text_of
from retrieval.verify.clauses import split_sentences
from schemas.evidence import Evidence

TIE = 0.5
"""A stated label within this of the best logit stays."""
GROUNDED = 0.0
"""Above it a passage is more likely to bear on a sentence than not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """The evidence that a sentence rests on, and how sure the cross-encoder is."""

    evidence: Evidence
    logit: float


def align_sentence(
    sentence: str, labels: Sequence[str], evidence: Sequence[Evidence], reranker: Reranker
) -> Alignment | None:
    """Return the one piece of *evidence* for a sentence; None where there is none at all.

    It is the stated one, if its logit is within .5 of the best, else the best; of several stated the best.
    """
    if not evidence:
        return None
    logits = reranker.score_pairs(sentence, [text_of(one) for one in evidence])
    ranked = sorted(
        (Alignment(evidence=one, logit=logit) for one, logit in zip(evidence, logits, strict=True)),
        key=lambda one: (-one.logit, one.evidence.S),
    )
    stated = [one for one in ranked if one.evidence.S in labels]
    return stated[0] if stated and stated[0].logit >= ranked[0].logit - TIE else ranked[0]


def speaks_of(aligned: Alignment, sentence: str, reranker: Reranker) -> bool:
    """Whether the cross-encoder finds the passage, or one sentence of it, more likely relevant than not.

    A passage of many things has a low logit for a sentence about one of them.
    """
    if aligned.logit > GROUNDED:
        return True
    parts = split_sentences(aligned.evidence.text)
    return max(reranker.score_pairs(sentence, parts), default=GROUNDED) > GROUNDED
