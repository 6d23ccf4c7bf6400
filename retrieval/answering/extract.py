"""An answer without a language model: the sentences of the evidence that answer best, word for word."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from indexes.ports import Reranker
from retrieval.answering.answered import Answered, AnsweredBy, Grounded
from retrieval.expand.words import stems
from retrieval.second_query import split_sentences
from schemas.evidence import ContextBundle, Evidence

SENTENCES_MAX = 3
READ_MAX = 40
"""Sentences that the cross-encoder reads, at some ten milliseconds each."""
LENGTH_MAX = 500
"""Characters; a longer sentence is a table or a listing in one line."""
BEHIND = 3.0
"""A sentence with a logit so far behind the best says something else (unmeasured)."""
COVERED = 0.6
"""Share of the question's words, by rarity, that must stand in a sentence where no cross-encoder reads it."""
NEAREST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence of the evidence; `covered` is the share of the question that it and its headings hold."""

    text: str
    evidence: Evidence
    place: int
    covered: float


def extract_answer(bundle: ContextBundle, *, reranker: Reranker | None) -> Answered:
    """Give at most three sentences with their labels, in the order of the evidence, or "not found".

    A cross-encoder takes sentences with a logit above 0 and near the best; without one a sentence must
    hold enough of the question's words.
    """
    ranked = rank_candidates(bundle.query, bundle.evidence)
    chosen = _judged(bundle.query, ranked, reranker) if reranker else _covering(ranked)
    return Answered(
        by=AnsweredBy.EXTRACT,
        sentences=tuple(
            Grounded(text=one.text, S=one.evidence.S, logit=logit)
            for one, logit in sorted(chosen, key=lambda pair: pair[0].place)
        ),
        nearest=() if chosen else tuple(one.S for one in bundle.evidence[:NEAREST]),
    )


def rank_candidates(question: str, evidence: Collection[Evidence]) -> tuple[Candidate, ...]:
    """Give the distinct sentences of *evidence*, those that hold most of the question first.

    Words count by how few sentences hold them. Of equals the one of better evidence comes first.
    """
    said: dict[str, Evidence] = {}
    for one in evidence:
        for text in _sentences(one):
            said.setdefault(text, one)
    sentences = tuple(said.items())
    words = [stems(" ".join((*one.heading_path, text))) for text, one in sentences]
    asked = stems(question)
    held = Counter(word for found in words for word in found & asked)
    weight = {word: math.log1p(len(sentences) / (held[word] or 0.5)) for word in sorted(asked)}
    whole = sum(weight.values()) or 1.0
    candidates = [
        Candidate(
            text=text,
            evidence=one,
            place=place,
            covered=round(sum(weight[word] for word in sorted(found & asked)) / whole, 6),
        )
        for place, ((text, one), found) in enumerate(zip(sentences, words, strict=True))
    ]
    return tuple(sorted(candidates, key=lambda one: (-one.covered, one.place)))


def _sentences(evidence: Evidence) -> Sequence[str]:
    """Sentences of the prose, and lines where there is none: a list or a table has no full stops."""
    found = (part for block in evidence.text.split("\n") for part in split_sentences(block))
    return [text for text in found if any(sign.isalpha() for sign in text) and len(text) <= LENGTH_MAX]


Chosen = tuple[Candidate, float | None]


def _judged(question: str, ranked: Sequence[Candidate], reranker: Reranker) -> Sequence[Chosen]:
    read = ranked[:READ_MAX]
    logits = reranker.score_pairs(question, [_in_place(one) for one in read])
    best = max(logits, default=0.0)
    good = [
        (one, logit) for one, logit in zip(read, logits, strict=True) if logit > 0 and logit >= best - BEHIND
    ]
    return [*sorted(good, key=lambda pair: (-pair[1], pair[0].place))][:SENTENCES_MAX]


def _covering(ranked: Sequence[Candidate]) -> Sequence[Chosen]:
    return [(one, None) for one in ranked if one.covered >= COVERED][:SENTENCES_MAX]


def _in_place(one: Candidate) -> str:
    trail = " > ".join(one.evidence.heading_path or one.evidence.breadcrumbs)
    return f"{trail}\n{one.text}" if trail else one.text
