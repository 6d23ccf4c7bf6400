"""An answer without a language model: the sentences of the evidence that answer best, word for word."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, repeat

from indexes.ports import Reranker
from retrieval.answering.answerable import (
    FAMILIAR,
    Familiarity,
    doubt,
    is_answerable,
    is_sensed,
    tells_number,
)
from retrieval.answering.answered import (
    UNIT_MAX,
    Answered,
    AnsweredBy,
    Grounded,
    QuotablePart,
    is_bare_code,
    quotable_parts,
    split_quotable,
)
from retrieval.question.words import fold, question_parts, stems
from retrieval.ranking.rerank import passage_text
from schemas.evidence import ContextBundle, Evidence, Relation

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


def weigh_sentences(
    question: str, evidence: Collection[Evidence], *, posed: Collection[str] = ()
) -> tuple[CandidateSentence, ...]:
    """Return the distinct sentences of *evidence* in their order, with what each contains of the question.

    Words count by how few sentences contain them. Of a sentence that stands in several pieces of evidence the
    first is kept.

    Args: posed: questions; a sentence that only poses one, as a list of questions does, is left out.
    """
    sentences = tuple(_distinct(evidence, posed).items())
    words = [stems(" ".join((*one.heading_path, text))) for text, one in sentences]
    asked = stems(question)
    found_in = Counter(word for found in words for word in found & asked)
    weight = {word: math.log1p(len(sentences) / (found_in[word] or 0.5)) for word in sorted(asked)}
    whole = sum(weight.values()) or 1.0
    return tuple(
        CandidateSentence(
            text=text,
            evidence=one,
            place=place,
            covered=round(sum(weight[word] for word in sorted(found & asked)) / whole, 6),
        )
        for place, ((text, one), found) in enumerate(zip(sentences, words, strict=True))
    )


def _distinct(evidence: Collection[Evidence], posed: Collection[str]) -> dict[str, Evidence]:
    """Return each sentence once, with the best evidence that says it."""
    said: dict[str, Evidence] = {}
    for one in evidence:
        for text in split_quotable(one.text):
            if len(text) <= UNIT_MAX and any(map(str.isalpha, text)) and not _poses(text, posed):
                said.setdefault(text, one)
    return said


def trim_posed(parts: Sequence[str], taken: range, posed: Collection[str]) -> range:
    """Return *taken* without the parts at its ends that only pose one of these questions.

    Between others they stay, or the quotation would join what does not stand together.

    >>> trim_posed(["Who?", "Who keeps it?", "The porter."], range(3), ["Who keeps it?"])
    range(0, 3)
    """
    stated = [at for at in taken if not _poses(parts[at], posed)]
    return range(stated[0], stated[-1] + 1) if stated else range(0)


def beginning(text: str, *, limit: int) -> str:
    """Return the first *limit* characters, up to a whole word where words are parted by spaces.

    >>> beginning("one line of many ports", limit=12)
    'one line of'
    """
    if len(text) <= limit:
        return text
    cut = text[: limit + 1]
    return cut.rpartition(" ")[0] or cut[:limit]


def _poses(text: str, questions: Collection[str]) -> bool:
    asked = (f" {fold(one)} " for one in questions if _ASKS.match(one))
    return any(one in f" {fold(text)} " for one in asked)


def stretch(lengths: Sequence[int], worth: Sequence[float | None], *, limit: int) -> range:
    """Return the neighbouring parts to quote: the best one, and on either side what is worth more.

    A part is taken as long as all together have at most *limit* characters; the best one always is. A part of
    unknown worth, as a bracket in a line of its own, is never the best, and counts like the one before it.

    >>> stretch([90, 40, 200, 50], [0.1, 0.9, 0.5, 0.0], limit=250)
    range(1, 3)
    >>> stretch([20, 1, 20], [0.9, None, 0.5], limit=50)
    range(0, 3)
    """
    known = [(one, -at) for at, one in enumerate(worth) if one is not None]
    if not known:
        return range(0)
    best, carried = -max(known)[1], _carry(worth)
    low, high, used = best, best + 1, lengths[best]
    while sides := [at for at in (high, low - 1) if 0 <= at < len(worth) and used + lengths[at] + 1 <= limit]:
        # Of equals the one behind: a text explains what it has named.
        taken = max(sides, key=lambda at: (carried[at], at))
        used += lengths[taken] + 1
        low, high = min(low, taken), max(high, taken + 1)
    return range(low, high)


def stretch_units(parts: Sequence[QuotablePart], worth: Sequence[float | None], *, limit: int) -> range:
    """Return the neighbouring parts to quote, as `stretch` does, of each unit all or none.

    A unit is worth what its best part is; one that is too long for a quotation is never the best.
    """
    units = [list(places) for _, places in groupby(range(len(parts)), lambda at: parts[at].unit)]
    lengths = [sum(len(parts[at].text) + 1 for at in unit) - 1 for unit in units]
    known = [[one for at in unit if (one := worth[at]) is not None] for unit in units]
    best = [
        max(one, default=None) if len(unit) == 1 or length <= UNIT_MAX else None
        for one, unit, length in zip(known, units, lengths, strict=True)
    ]
    taken = [at for unit in stretch(lengths, best, limit=limit) for at in units[unit]]
    return range(taken[0], taken[-1] + 1) if taken else range(0)


def without_lead(parts: Sequence[str], taken: range) -> range:
    """Return *taken* without what at its end only leads to something that is not quoted.

    >>> without_lead(["It holds.", "Values are:", "1"], range(2))
    range(0, 1)
    """
    ends = [at for at in taken if not parts[at].endswith(":")]
    return range(taken.start, ends[-1] + 1) if ends else taken


def _carry(worth: Sequence[float | None]) -> tuple[float, ...]:
    """Give each part of unknown worth that of the one before it, at the beginning that of the one behind."""
    first = next((one for one in worth if one is not None), 0.0)
    return tuple(accumulate(worth, lambda before, one: before if one is None else one, initial=first))[1:]


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
TOGETHER, SENSED_MAX = 2, 5
"""Passages of one page that together may answer a question in the asker's own words, and how many are then
quoted, each briefly, since nothing tells the best. bench/RESULTS.md, "Answers without a model"."""
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
    """Return what a few passages say, labelled and in the order of the evidence, or "not found".

    Where the question asks for relations, the answer is what edges say of them, and else what is quoted: of
    the best passages the sentences around the one that answers best. `is_answerable` tells whether anything
    is. Each of the *further* questions, that were asked on the way, adds the sentence that answers it best;
    alone they answer nothing.
    """
    if told := [one for one in bundle.relations if one.leads and one.hops]:
        return _tell(told)
    if nothing := [one for one in bundle.relations if one.leads]:
        return _tell(nothing)
    reader = reranker if familiarity.sense is None else None
    found = _quote(bundle, reader, further, familiarity)
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
    near = _choose(bundle.query, evidence, reranker, familiarity)
    posed = (bundle.query, *further)
    quoted: dict[str, Quoted] = {}
    for one, limit in near:
        quoted |= _unless_said(quoted, one.evidence.S, _read(one, posed, reranker, limit=limit))
    quoted = {label: said for label, said in quoted.items() if not is_bare_code(said.values())} or quoted
    for question in further if near else ():
        for one in _answers_further(question, evidence, reranker):
            quoted |= _unless_said(quoted, one.evidence.S, _read(one, posed, reranker, limit=0))
    labels = [one.S for one in bundle.evidence]
    return Answered(
        by=AnsweredBy.EXTRACT,
        sentences=tuple(one for label in labels for one in _in_order(quoted.get(label, {}))),
        nearest=() if quoted else tuple(labels[:NEAREST]),
    )


def _choose(
    question: str, evidence: Sequence[Evidence], reranker: Reranker | None, familiarity: Familiarity
) -> Sequence[tuple[Passage, int]]:
    """Return the passages to quote with their most characters, the best first; none without an answer."""
    passages = _rank(question, evidence, reranker)
    limits = [BEST_MAX, *repeat(FURTHER_MAX, PASSAGES_MAX - 1)]
    near: Sequence[Passage] = ()
    if passages and is_answerable(familiarity, _best_fit(passages)):
        near = _on_subject(tuple(_near(passages)), evidence, familiarity)
    elif reranker is not None and is_sensed(question, familiarity):
        near, limits = _around_first(question, evidence), [FURTHER_MAX] * SENSED_MAX
    is_told = any(tells_number(question, split_quotable(one.evidence.text)) for one in near)
    return list(zip(near, limits, strict=False)) if is_told else ()


def _around_first(question: str, evidence: Sequence[Evidence]) -> Sequence[Passage]:
    """Return what the search found first, led by the passages of its page; none where it has no other.

    A page that is near only by chance has one passage.
    """
    pages = [(one.doc, one.pdf.page if one.pdf else None) for one in evidence]
    if not pages or pages.count(pages[0]) < TOGETHER:
        return ()
    ordered = sorted(range(len(evidence)), key=lambda at: pages[at] != pages[0])
    return [Passage(evidence=evidence[at], asked=question) for at in ordered[:SENSED_MAX]]


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
    texts = [passage_text(one) for one in evidence]
    read = {part: reranker.score_pairs(part, texts) for part in question_parts(question)}
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
    words = {one.S: stems(passage_text(one)) for one in evidence}
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
    return reranker.score_pairs(question, [passage_text(one.evidence, one.text) for one in sentences])


def _answers_further(
    question: str, evidence: Sequence[Evidence], reranker: Reranker | None
) -> Iterator[Passage]:
    best = next(iter(_rank(question, evidence, reranker)), None)
    if best and is_answerable(FAMILIAR, best.fit):
        yield best
