"""Whether a sentence affirms what a passage denies, or says at least where it says at most."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from retrieval.verify.clauses import (
    DENYING,
    NEGATORS,
    OPPOSITES,
    PARTICLES,
    Clause,
    is_filler,
    put_asides_last,
    split_clauses,
    split_sentences,
    stem,
    whole,
)
from retrieval.verify.facts import read_facts
from retrieval.verify.quantities import Quantity

_DENYING = frozenset(map(stem, DENYING))
_OPPOSITES = tuple((stem(left), stem(right)) for left, right in OPPOSITES)
_HEDGES = re.compile(
    r"""\b(?:better|prefer\w*|should\s+consider|hardly|barely|unless|except|otherwise|instead|rather\s+than)\b
      | \b(?:too\s+\w+|poor(?:ly)?|whether|until|without\s+\w+ing|no\s+other|nobody\s+else|nothing\s+else)\b
      | \b(?:not|no|never)\b(?:\W+\w+){0,4}?\W+(?:\w+er|more|less)\s+than\b   # no longer than: a bound
      | \b(?:not)\s+(?:exceed|fall\s+below|necessarily|just)\b|\bnot\s+only\b|\bno\s+matter\b
      | \b(?:not|never)\s+(?:\w+\s+)?(?:as|so)\s+\w+\s+as\b       # not counted as much as: less""",
    re.VERBOSE | re.IGNORECASE,
)
"""Where yes and no cannot be told by counting; numbers there are compared by themselves."""
_HALF_HEDGES = re.compile(
    r"\b(?:(?<!the\s)only|removed|dropped|withdrawn|(?:not|never)(?:\W+\w+){0,4}?\W+before)\b", re.IGNORECASE
)
"""Likewise, but for a sentence that says the same words with a "not"."""
_CONDITION = re.compile(
    r"^(?:(?:if|when|once|where|unless|provided|as long as|which|who|without)\b"
    r"|that\s+(?!it|they|he|she|we|you))",
    re.IGNORECASE,
)
"""What opens a condition, or says which one is meant."""
_ASIDE = re.compile(r"^(?:while|because|since|as|although|though|after|before|during)\b", re.IGNORECASE)
"""What a sentence adds to what it says; a passage may well say it there."""
_EVEN = re.compile(r"\beven\s+(?:if|when|without)\b", re.IGNORECASE)
_ONLY = re.compile(r"\bonly\s+(?:\w+\s+){0,3}?(?:if|when|with|after)\b", re.IGNORECASE)
_UNLESS = re.compile(r"\bunless\b", re.IGNORECASE)
"""What is so unless something is, a passage may well say the other way round."""
_AUXILIARY = frozenset({"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "gets"})
_PREPOSITIONS = frozenset({"with", "without", "by", "at", "in", "on", "for"})
_SHARED = 0.6
"""Least share of a clause's words that another must have to say something of the same."""


_REACH = 2
"""Words after a negator of which one, at least, must be spoken of."""
_LEADING = frozenset({"longer", "possible", "able", "necessary", "currently"})
"""Words between a negator and what it denies."""


def contradiction(sentence: str, passage: str) -> str | None:
    """Return the words of *passage* that say the opposite of *sentence*, or None.

    Each clause of the sentence is held against the clause of the passage with most of its words, and each
    denial against what is denied there. Clauses whose yes and no cannot be told ("only", "unless") pass.
    """
    stated = tuple(clause for one in split_sentences(passage) for clause in _clauses(one))
    subject = whole(sentence)
    for said in _clauses(sentence) if not _UNLESS.search(sentence) else ():
        found = _denied(said, stated, subject) or _opposed(said, stated)
        if found:
            return found
    return _misplaced(sentence, passage) or _unlimited(sentence, passage)


def _clauses(sentence: str) -> tuple[Clause, ...]:
    return split_clauses(put_asides_last(sentence))


def denies(text: str) -> bool:
    """Whether a text, taken as one clause, denies."""
    return _is_negative(whole(text))


def _opposed(said: Clause, stated: Sequence[Clause]) -> str | None:
    """Return the best matching clause if it, and every other that matches as well, says the opposite."""
    if not said.stems or _is_open(said, half=not _is_negative(said)) or _ASIDE.match(said.text):
        return None
    shared = [(len(_topic(said) & (_topic(one) | _subject(one))), one) for one in stated]
    most = max((count for count, _ in shared), default=0)
    if most < min(2, len(_topic(said))) or most < _SHARED * len(_topic(said)):
        return None
    best = [one for count, one in shared if count == most]
    if denied := _said_with_a_not(said, best):
        return denied.text
    if any(_is_open(one) or not _differ(said, one) or not _reaches(said, one) for one in best):
        return None
    return best[0].text


def _said_with_a_not(said: Clause, best: Sequence[Clause]) -> Clause | None:
    """Return the clause that has all words of *said* but its "not"; "only" and "removed" are none then."""
    if not _is_negative(said) or len(_topic(said)) <= 1:
        return None
    same = [one for one in best if _topic(said) <= _topic(one) and not _is_negative(one)]
    return same[0] if same and not any(_is_open(one, half=False) for one in same) else None


def _reaches(said: Clause, stated: Clause) -> bool:
    """Whether what one clause denies is something that the other speaks of."""
    denying, other = (stated, said) if _is_negative(stated) else (said, stated)
    denied = _denied_words(denying)
    return not denied or _bridged(said, stated) or bool(denied & (_topic(other) | _topic_before(other)))


def _denied_words(clause: Clause) -> frozenset[str]:
    """Return what a clause may deny: words next to its first negator, else what precedes a denying word."""
    at = next((at for at, word in enumerate(clause.words) if word in NEGATORS), None)
    words = clause.words[at + 1 :] if at is not None else ()
    after = [stem(one) for one in words if not is_filler(one) and one not in _LEADING]
    before = [stem(one) for one in clause.words[:at] if at and not is_filler(one)]
    return frozenset(after[:_REACH]) or frozenset(before[-1:]) or _heads(clause)


def _denied(said: Clause, stated: Sequence[Clause], sentence: Clause) -> str | None:
    """Return the clause that denies what *said* affirms, or affirms what it denies, by the words denied."""
    if _is_open(said) or _ASIDE.match(said.text):
        return None
    if _is_negative(said):
        return _affirming(_heads(said), stated, sentence)
    denying = [one for one in stated if _is_negative(one) and not _is_open(one)]
    others = [one for one in stated if not _is_negative(one) or _is_open(one)] if denying else []
    for one in denying:
        heads = _heads(one)
        elsewhere = any(heads & other.stems for other in others)
        if heads and heads <= said.stems and not elsewhere and not _bridged(said, one):
            return one.text
    return None


def _affirming(heads: frozenset[str], stated: Sequence[Clause], sentence: Clause) -> str | None:
    near = [
        one
        for one in stated
        if heads and heads <= one.stems and len((_topic(one) | _topic_before(one)) & _topic(sentence)) >= 2
    ]
    if near and not any(_is_negative(one) or _is_open(one) or _bridged(sentence, one) for one in near):
        return near[0].text
    return None


def _heads(clause: Clause) -> frozenset[str]:
    """Return what is denied: the first word after a negator, or what comes before a denying word."""
    for at, word in enumerate(clause.words):
        before = frozenset(stem(one) for one in clause.words[:at] if not is_filler(one))
        if word in NEGATORS:
            after = [one for one in clause.words[at + 1 :] if not is_filler(one)]
            particle = [one for one in after[1:2] if one in PARTICLES]
            return frozenset(stem(one) for one in (*after[:1], *particle)) or before
        if _says_no(clause, at):
            return before
    return frozenset()


def _says_no(clause: Clause, at: int) -> bool:
    """Whether a word denies by itself; "failed attempts" only tells which attempts."""
    word, after = clause.words[at], clause.words[at + 1 : at + 2]
    if word in NEGATORS:
        return word != "nor" or not set(clause.words[:at]) & NEGATORS
    auxiliary = bool(set(clause.words[max(0, at - 1) : at]) & _AUXILIARY)
    if word.endswith(("tion", "tions", "nce", "nces")):  # the prohibition of something may be denied itself
        return False
    attributive = word.endswith("ed") and bool(after) and not is_filler(after[0]) and not auxiliary
    return stem(word) in _DENYING and not attributive


def _topic(clause: Clause) -> frozenset[str]:
    """Return what a clause speaks of; numbers are compared by themselves, and many things have the same."""
    return frozenset(
        stem(word)
        for word in clause.words
        if not is_filler(word) and word not in NEGATORS and not word.isdecimal()
    )


def _subject(clause: Clause) -> frozenset[str]:
    """Return what a clause without a subject goes on from; "with food" has none and needs none."""
    return frozenset() if clause.words[0] in _PREPOSITIONS else _topic_before(clause)


def _topic_before(clause: Clause) -> frozenset[str]:
    return frozenset(stem(word) for word in clause.before if not is_filler(word))


def _is_open(clause: Clause, *, half: bool = True) -> bool:
    """Whether yes and no cannot be told; without *half* also where "only" or "removed" makes that so."""
    if _HEDGES.search(clause.text) or _CONDITION.match(clause.text):
        return True
    return half and bool(_HALF_HEDGES.search(clause.text))


def _is_negative(clause: Clause) -> bool:
    return _denials(clause) % 2 == 1


def _denials(clause: Clause) -> int:
    """Count what denies; in "does not fail" one takes the other back."""
    places = [at for at in range(len(clause.words)) if _says_no(clause, at)]
    taken_back = sum(clause.words[left] in NEGATORS and right - left <= 2 for left, right in pairwise(places))
    return len(places) - 2 * taken_back


def _differ(said: Clause, stated: Clause) -> bool:
    return _is_negative(said) ^ _is_negative(stated) ^ _bridged(said, stated)


def _bridged(said: Clause, stated: Clause) -> bool:
    """Whether one clause has a word of a pair, such as known and unknown, and the other only its opposite."""
    mine, theirs = ({stem(word) for word in one.words if word not in NEGATORS} for one in (said, stated))
    crossed = sum(
        (left in mine and right in theirs and not {left} & theirs and not {right} & mine)
        or (right in mine and left in theirs and not {right} & theirs and not {left} & mine)
        for left, right in _OPPOSITES
    )
    undone = sum(stem(f"un{word}") in theirs and stem(word) not in theirs for word in set(said.words))
    undone += sum(stem(f"un{word}") in mine and stem(word) not in mine for word in set(stated.words))
    return (crossed + undone) % 2 == 1


def _misplaced(sentence: str, passage: str) -> str | None:
    """Return what stands before something that the sentence puts after it, or the other way round."""
    for word, other in (("before", "after"), ("after", "before")):
        for match in re.finditer(
            rf"\b{word}\s+(?:the\s+|a\s+|an\s+)?(\w+)(?:\s+(\w+))?", sentence, re.IGNORECASE
        ):
            thing = [stem(part.casefold()) for part in match.groups() if part]
            rest = {*_stems_of(sentence)} - set(thing)
            if found := _put(other, word, thing, rest, passage):
                return found
    return None


def _unlimited(sentence: str, passage: str) -> str | None:
    """Return what is so only under a condition, where the sentence says that it is so even without it."""
    if not _EVEN.search(sentence):
        return None
    said = _stems_of(sentence)
    for one in split_sentences(passage):
        if _ONLY.search(one) and len(said & _stems_of(one)) >= _SHARED * len(said):
            return one
    return None


def _put(other: str, word: str, thing: list[str], rest: set[str], passage: str) -> str | None:
    best, at = "", 0
    for one in split_sentences(passage):
        shared = len(rest & _stems_of(one))
        if shared > at and set(thing[:1]) <= _stems_of(one):
            best, at = one, shared
    folded = best.casefold()
    if at >= 2 and re.search(rf"\b{other}\b", folded) and not re.search(rf"\b{word}\b", folded):
        after = re.search(rf"\b{other}\s+(?:the\s+|a\s+|an\s+)?(\w+)", folded)
        return best if after and stem(after[1]) == thing[0] else None
    return None


def _stems_of(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w+", text.casefold()) if not is_filler(word)}


_MORE = r"(?:more|longer|higher|later|faster|larger|greater|older|heavier)\s+than"
_LESS = r"(?:less|fewer|lower|earlier|shorter|slower|smaller|younger)\s+than"
_NOT = r"(?:not?|never|cannot)\s+(?:\w+\s+){0,2}"
_END = r"(?:\s+\w+){0,2}\s*$"
_NEAR = 200
"""Characters before a number in which words that make it a limit stand; in a row of numbers, all before each
would be read else.
"""
_UPPER, _LOWER = -1, 1
_BELOW, _ABOVE = -2, 2
"""Up to a number, and more than it, are the two sides of one limit and no opposites."""
_BEFORE = tuple(
    (re.compile(words + _END, re.IGNORECASE), bound)
    for words, bound in (
        (rf"\b{_NOT}{_MORE}", _UPPER),
        (rf"\b{_NOT}{_LESS}", _LOWER),
        (rf"\b{_NOT}(?:exceed|be\s+above|go\s+over)", _UPPER),
        (rf"\b{_NOT}(?:fall|go|be|drop)\s+below", _LOWER),
        (r"\b(?:at\s+least|minimum(?:\s+of)?)", _LOWER),
        (rf"\b(?:{_MORE}|above|over|exceeds?|exceeding)", _ABOVE),
        (r"\b(?:at\s+most|up\s+to|maximum(?:\s+of)?|limited\s+to)", _UPPER),
        (rf"\b(?:{_LESS}|below|under)", _BELOW),
    )
)
_AFTER = (
    (
        re.compile(r"\s*(?:\w+\s+)?(?:or\s+(?:more|longer|over)|at\s+least|at\s+the\s+earliest)\b", re.I),
        _LOWER,
    ),
    (
        re.compile(r"\s*(?:\w+\s+)?(?:or\s+(?:less|fewer)|at\s+(?:the\s+)?most|at\s+the\s+latest)\b", re.I),
        _UPPER,
    ),
)
_DENIED_BOUND = re.compile(
    rf"\b{_NOT}(?:{_MORE}|{_LESS}|exceed|be\s+above|(?:fall|go|be|drop)\s+below)", re.I
)

_ONE = re.compile(r"\bone\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    """A number with the limit that it is, and whether what it limits is denied."""

    number: Quantity
    bound: int
    denied: bool


def opposite_bounds(sentence: str, passage: str) -> str | None:
    """Return the number that is a lower limit in one text and an upper limit in the other, or None.

    Where one of the two denies, the limits may well mean the same: over 2 GB refused, up to 2 GB accepted.
    """
    stated = [limit for one in split_sentences(passage) for limit in _limits(one)]
    for said in _limits(sentence):
        same = [one for one in stated if one.bound and one.number.equals(said.number)]
        if (
            said.bound
            and same
            and all(one.bound == -said.bound and one.denied == said.denied for one in same)
        ):
            return said.number.text
    return None


def _limits(sentence: str) -> Iterator[_Limit]:
    denied = denies(_DENIED_BOUND.sub("", sentence))
    for one in (*read_facts(sentence).quantities, *_ones(sentence)):
        yield _Limit(number=one, bound=_bound(sentence, one), denied=denied)


def _ones(text: str) -> Iterator[Quantity]:
    """Yield each bare "one", which is a number where it is a limit: no more than one row."""
    for match in _ONE.finditer(text):
        yield Quantity(text=match[0], values=(1.0,), unit=None, start=match.start(), end=match.end())


def _bound(text: str, one: Quantity) -> int:
    for pattern, bound in _BEFORE:
        if pattern.search(text, max(0, one.start - _NEAR), one.start):
            return bound
    return next((bound for pattern, bound in _AFTER if pattern.match(text, one.end)), 0)
