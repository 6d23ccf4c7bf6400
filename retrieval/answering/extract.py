"""An answer without a language model: what answers best in the evidence, word for word."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.ports import Reranker
from retrieval.answering.answerable import FAMILIAR, Familiarity, doubt, is_answerable
from retrieval.answering.answered import Answered, AnsweredBy, Grounded
from retrieval.answering.quoting import (
    CandidateSentence,
    beginning,
    stretch_units,
    trim_posed,
    weigh_sentences,
    without_lead,
)
from retrieval.answering.sentences import quotable_parts
from retrieval.question.parts import parts_of
from retrieval.question.title_words import stems
from schemas.evidence import ContextBundle, Evidence, Relation

PASSAGES_MAX = 3
READ_MAX = 40
"""Sentences of one question that the cross-encoder reads, at some ten milliseconds each."""
BEST_MAX, FURTHER_MAX = 500, 200
"""Characters quoted of the best passage and of each other; the middle of the lengths of passages is 600."""
BEHIND = 3.0
"""A passage with a logit so far behind the best says something else; 5 and 8 quote more and answer no more.

bench/RESULTS.md, "Answers without a model".
"""
SCORE_SHARE = 0.8
"""Of the best score, where no cross-encoder reads: a passage with less is another subject."""
NEAREST = 3
GAP = "… "
"""Before a sentence that does not follow the one quoted before it, of the same passage."""

Quoted = Mapping[int, Grounded]
"""What is quoted of a passage, by its place there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage to quote from.

    `logit` is for the whole question, `fit` for the part of it, `asked`, that the passage fits best; both are
    None without a cross-encoder.
    """

    evidence: Evidence
    asked: str
    logit: float | None = None
    fit: float | None = None


def extract_answer(
    bundle: ContextBundle,
    *,
    reranker: Reranker | None,
    further: Sequence[str] = (),
    familiarity: Familiarity = FAMILIAR,
) -> Answered:
    """Return what at most three passages say, labelled and in the order of the evidence, or "not found".

    Where the question asks for relations, the answer is what edges say of them, and else what is quoted: of
    the best passages the sentences around the one that answers best. `is_answerable` tells whether anything
    is. Each of the *further* questions, that were asked on the way, adds the sentence that answers it best;
    alone they answer nothing.
    """
    if told := [one for one in bundle.relations if one.leads and one.hops]:
        return _tell(told)
    if nothing := [one for one in bundle.relations if one.leads]:
        return _tell(nothing)
    found = _quote(bundle, reranker, further, familiarity)
    return _tell(bundle.relations) if found.not_found and bundle.relations else found


def _tell(relations: Collection[Relation]) -> Answered:
    return Answered(
        by=AnsweredBy.GRAPH,
        sentences=tuple(
            Grounded(text=one.text, S=next(iter(one.labels), None), also=one.labels[1:]) for one in relations
        ),
    )


def _quote(
    bundle: ContextBundle, reranker: Reranker | None, further: Sequence[str], familiarity: Familiarity
) -> Answered:
    told = {label for one in bundle.relations for label in one.labels}
    evidence = [one for one in bundle.evidence if one.S not in told]
    passages = _rank(bundle.query, evidence, reranker)
    posed = (bundle.query, *further)
    quoted: dict[str, Quoted] = {}
    if passages and is_answerable(familiarity, _best_fit(passages)):
        near = _on_subject(tuple(_near(passages)), evidence, familiarity)
        for place, one in enumerate(near):
            limit = FURTHER_MAX if place else BEST_MAX
            quoted |= _unless_said(quoted, one.evidence.S, _read(one, posed, reranker, limit=limit))
        for question in further:
            for one in _answers_further(question, evidence, reranker):
                quoted |= _unless_said(quoted, one.evidence.S, _read(one, posed, reranker, limit=0))
    labels = [one.S for one in bundle.evidence]
    return Answered(
        by=AnsweredBy.EXTRACT,
        sentences=tuple(one for label in labels for one in _in_order(quoted.get(label, {}))),
        nearest=() if quoted else tuple(labels[:NEAREST]),
    )


def _unless_said(quoted: Mapping[str, Quoted], label: str, read: Quoted) -> Mapping[str, Quoted]:
    """Return what is quoted of a passage with what was read there now, nothing where all of that was said."""
    said = {one.text for parts in quoted.values() for one in parts.values()}
    is_new = any(one.text not in said for one in read.values())
    return {label: {**read, **quoted.get(label, {})}} if is_new else {}


def _in_order(quoted: Quoted) -> Iterator[Grounded]:
    """Yield what is quoted of a passage as it stands there, each gap marked."""
    for place, (at, one) in enumerate(sorted(quoted.items())):
        yield replace(one, text=f"{GAP}{one.text}") if place and at - 1 not in quoted else one


def _rank(question: str, evidence: Sequence[Evidence], reranker: Reranker | None) -> list[Passage]:
    """Return passages, the best first: as the cross-encoder has them, else as they were found."""
    if reranker is None:
        return [Passage(evidence=one, asked=question) for one in evidence]
    texts = [in_place(one, one.text) for one in evidence]
    read = {part: reranker.score_pairs(part, texts) for part in parts_of(question)}
    passages: list[Passage] = []
    for row, one in enumerate(evidence):
        asked = max(read, key=lambda part: read[part][row])
        passages.append(Passage(evidence=one, asked=asked, logit=read[question][row], fit=read[asked][row]))
    return sorted(passages, key=lambda one: -(one.logit or 0.0))


def _best_fit(passages: Collection[Passage]) -> float | None:
    return max((one.fit for one in passages if one.fit is not None), default=None)


def _on_subject(
    near: Sequence[Passage], evidence: Sequence[Evidence], familiarity: Familiarity
) -> Sequence[Passage]:
    """Return those of *near* that may answer.

    Where the logit of the best says little of a short question, and the search did not find it first, those
    are the ones with all its telling words: words that some passages have, and most have not.
    """
    best = near[0]
    fit, wanted = _best_fit(near), doubt(best.asked)
    if fit is None or not wanted or is_answerable(familiarity, fit - wanted) or best.evidence is evidence[0]:
        return near
    words = {one.S: stems(in_place(one, one.text)) for one in evidence}
    found = Counter(word for each in words.values() for word in each)
    telling = {word for word in stems(best.asked) if 0 < found[word] < len(evidence) / 2}
    return [one for one in near if telling <= words[one.evidence.S]]


def _near(passages: Sequence[Passage]) -> Iterator[Passage]:
    best = passages[0]
    for one in passages[:PASSAGES_MAX]:
        if one.logit is None or best.logit is None:
            if one.evidence.score >= SCORE_SHARE * best.evidence.score:
                yield one
        elif one.logit >= best.logit - BEHIND:
            yield one


def _read(passage: Passage, posed: Collection[str], reranker: Reranker | None, *, limit: int) -> Quoted:
    """Return what is quoted of a passage: all of a short one, of others the sentences around the best one,
    of one endless line the beginning.
    """

    cut = quotable_parts(passage.evidence.text)
    parts = [part.text for part in cut]

    def quote(at: int, text: str) -> Grounded:
        return Grounded(text=text, S=passage.evidence.S, logit=passage.logit, joint=cut[at].joint)

    taken = trim_posed(parts, range(len(parts)), posed)
    sentences = weigh_sentences(passage.asked, [passage.evidence], posed=posed)[:READ_MAX]
    if sum(len(parts[at]) + 1 for at in taken) > limit:
        if not sentences:
            return {at: quote(at, beginning(parts[at], limit=limit or FURTHER_MAX)) for at in taken[:1]}
        weighed = _weigh(passage.asked, sentences, reranker)
        # What was not weighed (too long, too far back, only a question) is between others, never the best.
        least = math.nextafter(min(weighed), -math.inf)
        known = dict(zip((one.text for one in sentences), weighed, strict=True))
        worth = [known.get(one, least if any(map(str.isalpha, one)) else None) for one in parts]
        taken = stretch_units(cut, worth, limit=limit)
    return {at: quote(at, parts[at]) for at in without_lead(parts, trim_posed(parts, taken, posed))}


def _weigh(
    question: str, sentences: Sequence[CandidateSentence], reranker: Reranker | None
) -> Sequence[float]:
    if reranker is None:
        return [one.covered for one in sentences]
    return reranker.score_pairs(question, [in_place(one.evidence, one.text) for one in sentences])


def _answers_further(
    question: str, evidence: Sequence[Evidence], reranker: Reranker | None
) -> Iterator[Passage]:
    best = next(iter(_rank(question, evidence, reranker)), None)
    if best and is_answerable(FAMILIAR, best.fit):
        yield best


def in_place(evidence: Evidence, text: str) -> str:
    """Return *text* under the headings of its passage, as the cross-encoder reads it."""
    trail = " > ".join(evidence.heading_path or evidence.breadcrumbs)
    return f"{trail}\n{text}" if trail else text
