"""Sentences of the evidence that can be quoted, and the stretch of them that says most."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from retrieval.answering.sentences import UNIT_MAX, QuotablePart, split_quotable
from retrieval.question.title_words import stems
from retrieval.question.words import fold
from schemas.evidence import Evidence

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
