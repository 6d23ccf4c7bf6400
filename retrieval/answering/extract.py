"""An answer without a language model: the sentences of the evidence that answer best, word for word."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from indexes.ports import Reranker
from retrieval.answering.answered import Answered, AnsweredBy, Grounded
from retrieval.answering.sentences import split_quotable
from retrieval.question.title_words import stems
from retrieval.question.words import fold
from schemas.evidence import ContextBundle, Evidence, Relation

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
_ASKS = re.compile(r"\W*(?:what|which|who|whom|whose|when|where|why|how)\b\W+\w", re.IGNORECASE)
"""Questions whose words no statement has in this order; those after yes or no cannot be told from one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSentence:
    """A sentence of the evidence, and its place there; `covered` is the share of the question that it and its
    headings contain.
    """

    text: str
    evidence: Evidence
    place: int
    covered: float


def extract_answer(
    bundle: ContextBundle, *, reranker: Reranker | None, further: Sequence[str] = ()
) -> Answered:
    """Return at most three sentences with their labels, in the order of the evidence, or "not found".

    Where the question asks for relations, the answer is what edges say of them, and else what is quoted. A
    cross-encoder takes sentences with a logit above 0 and near the best; without one a sentence must contain
    enough of the question's words. Each of the *further* questions, that were asked on the way, adds the
    sentence that answers it best; alone they answer nothing.
    """
    if told := [one for one in bundle.relations if one.leads and one.hops]:
        return _tell(told)
    if nothing := [one for one in bundle.relations if one.leads]:
        return _tell(nothing)
    found = _quote(bundle, reranker, further)
    return _tell(bundle.relations) if found.not_found and bundle.relations else found


def _tell(relations: Collection[Relation]) -> Answered:
    return Answered(
        by=AnsweredBy.GRAPH,
        sentences=tuple(
            Grounded(text=one.text, S=next(iter(one.labels), None), also=one.labels[1:]) for one in relations
        ),
    )


def _quote(bundle: ContextBundle, reranker: Reranker | None, further: Sequence[str]) -> Answered:
    posed = (bundle.query, *further)
    told = {label for one in bundle.relations for label in one.labels}
    passages = [one for one in bundle.evidence if one.S not in told]
    chosen = _choose(bundle.query, passages, reranker, posed=posed)[:SENTENCES_MAX]
    if chosen:
        for one in further:
            chosen += _choose(one, passages, reranker, posed=posed)[:1]
    distinct = {one.text: (one, logit) for one, logit in reversed(chosen)}
    by_place = sorted(distinct.values(), key=lambda pair: pair[0].place)
    return Answered(
        by=AnsweredBy.EXTRACT,
        sentences=tuple(Grounded(text=one.text, S=one.evidence.S, logit=logit) for one, logit in by_place),
        nearest=() if chosen else tuple(one.S for one in bundle.evidence[:NEAREST]),
    )


def rank_candidates(
    question: str, evidence: Collection[Evidence], *, posed: Collection[str] = ()
) -> tuple[CandidateSentence, ...]:
    """Return the distinct sentences of *evidence*, those that contain most of the question first.

    Words count by how few sentences contain them. Of equals the one of better evidence comes first.

    Args: posed: questions; a sentence that only poses one, as a list of questions does, is left out.
    """
    sentences = tuple((text, one) for text, one in _distinct(evidence).items() if not _poses(text, posed))
    words = [stems(" ".join((*one.heading_path, text))) for text, one in sentences]
    asked = stems(question)
    held = Counter(word for found in words for word in found & asked)
    weight = {word: math.log1p(len(sentences) / (held[word] or 0.5)) for word in sorted(asked)}
    whole = sum(weight.values()) or 1.0
    candidates = [
        CandidateSentence(
            text=text,
            evidence=one,
            place=place,
            covered=round(sum(weight[word] for word in sorted(found & asked)) / whole, 6),
        )
        for place, ((text, one), found) in enumerate(zip(sentences, words, strict=True))
    ]
    return tuple(sorted(candidates, key=lambda one: (-one.covered, one.place)))


def _distinct(evidence: Collection[Evidence]) -> dict[str, Evidence]:
    """Return each sentence once, with the best evidence that says it."""
    said: dict[str, Evidence] = {}
    for one in evidence:
        for text in _sentences(one):
            said.setdefault(text, one)
    return said


def _poses(text: str, questions: Collection[str]) -> bool:
    asked = (f" {fold(one)} " for one in questions if _ASKS.match(one))
    return any(one in f" {fold(text)} " for one in asked)


def _sentences(evidence: Evidence) -> Sequence[str]:
    found = split_quotable(evidence.text)
    return [text for text in found if any(char.isalpha() for char in text) and len(text) <= LENGTH_MAX]


Chosen = tuple[CandidateSentence, float | None]


def _choose(
    question: str, evidence: Collection[Evidence], reranker: Reranker | None, *, posed: Collection[str]
) -> list[Chosen]:
    """Return the sentences that answer *question*, the best first."""
    ranked = rank_candidates(question, evidence, posed=posed)
    if reranker is None:
        return [(one, None) for one in ranked if one.covered >= COVERED]
    read = ranked[:READ_MAX]
    logits = reranker.score_pairs(question, [_in_place(one) for one in read])
    least = max(logits, default=0.0) - BEHIND
    good = [(one, logit) for one, logit in zip(read, logits, strict=True) if logit > 0 and logit >= least]
    return [*sorted(good, key=lambda pair: (-pair[1], pair[0].place))]


def _in_place(one: CandidateSentence) -> str:
    trail = " > ".join(one.evidence.heading_path or one.evidence.breadcrumbs)
    return f"{trail}\n{one.text}" if trail else one.text
