"""What of a sentence a passage does not bear out: numbers, dates, names, and yes or no."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from retrieval.verify.clauses import EXCLUSIVE, PER, UNIT_WORDS, split_sentences
from retrieval.verify.contrast import exchanged_roles, speaks_of_another
from retrieval.verify.facts import (
    TextFacts,
    find_exchanged,
    find_proper_names,
    fold_signs,
    has_name,
    opens_only,
    read_facts,
)
from retrieval.verify.near_copy import (
    claims_more,
    denied_copy,
    other_count,
    other_time,
    put_in_place,
    reversed_order,
)
from retrieval.verify.polarity import contradiction, opposite_bounds
from retrieval.verify.quantities import DURATION, Quantity, missing_ordinals


class GroundingFaultKind(StrEnum):
    """Why a sentence is not what its evidence says."""

    UNRELATED = "unrelated"
    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    QUOTE = "quote"
    OPPOSITE = "opposite"
    SCOPE = "scope"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingFault:
    """One thing of a sentence that its evidence does not bear out."""

    kind: GroundingFaultKind
    what: str


def check_sentence(sentence: str, passage: str, *, known: Collection[str] = ()) -> tuple[GroundingFault, ...]:
    """Return what of *sentence* is not in *passage*, in the order it is looked for; nothing if all is.

    A whole sentence of the passage is borne out by itself.


    Args: passage: headings and text of one piece of evidence. known: names that the other evidence has.
    """
    if _plain(sentence) in map(_plain, split_sentences(passage)):
        return ()
    said, stated = read_facts(sentence), read_facts(passage)
    faults = [
        *_dates(said, stated),
        *_numbers(said, stated, passage),
        *_signs(said, sentence, passage, known),
    ]
    if not faults:
        faults += _contradictions(sentence, passage)
    if not faults:
        faults += _retouched(sentence, passage)
    return tuple(faults)


def _plain(sentence: str) -> str:
    return fold_signs(sentence).rstrip(".")


def _dates(said: TextFacts, stated: TextFacts) -> Iterator[GroundingFault]:
    for one in said.dates:
        if not any(one.follows_from(other) for other in stated.dates):
            yield GroundingFault(kind=GroundingFaultKind.DATE, what=f"the date {one.text} is not in it")


def _numbers(said: TextFacts, stated: TextFacts, passage: str) -> Iterator[GroundingFault]:
    years = {float(one.year) for one in stated.dates if one.year}
    for one in said.quantities:
        if any(one.equals(other) for other in stated.quantities) or years.intersection(one.values):
            continue
        if one.unit is None and any(
            re.fullmatch(rf"v{one.text}|0?{one.text}:00", code) for code in stated.codes
        ):
            continue  # version 2, from 9 to 10
        if one.counted or not re.search(rf"\b{_counted(one)}\b", passage, re.IGNORECASE):
            yield GroundingFault(kind=GroundingFaultKind.NUMBER, what=f"{one.text} is not in it")
    for ordinal in missing_ordinals(said.rest, stated.rest, stated.quantities):
        yield GroundingFault(kind=GroundingFaultKind.NUMBER, what=f"{ordinal} is not in it")
    for word in find_exchanged(said.rest, stated.rest, UNIT_WORDS):
        yield GroundingFault(kind=GroundingFaultKind.NUMBER, what=f"it has another unit than {word}")


def _counted(one: Quantity) -> str:
    """Return a pattern of what says "a year" in other words."""
    found = re.search(DURATION, one.text)
    word = found[0].casefold() if found else one.text
    return f"(?:{'|'.join((word, *PER.get(word, ())))})"


def _signs(said: TextFacts, sentence: str, passage: str, known: Collection[str]) -> Iterator[GroundingFault]:
    folded = fold_signs(passage)
    for quote in said.quotes:
        if fold_signs(quote) not in folded:
            yield GroundingFault(kind=GroundingFaultKind.QUOTE, what=f"{quote!r} is not written in it")
    names = find_proper_names(said.rest, known=known)
    for name in dict.fromkeys((*said.codes, *names)):
        if not has_name(name, passage, folded) and not opens_only(name, sentence):
            yield GroundingFault(kind=GroundingFaultKind.NAME, what=f"{name} is not in it")
    for word in find_exchanged(sentence, passage, EXCLUSIVE):
        yield GroundingFault(kind=GroundingFaultKind.NAME, what=f"it has another word than {word}")


def _contradictions(sentence: str, passage: str) -> Iterator[GroundingFault]:
    if found := contradiction(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.OPPOSITE, what=f"it says the opposite: {found}")
    if found := opposite_bounds(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.OPPOSITE, what=f"it has another bound: {found}")
    if found := exchanged_roles(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.NAME, what=f"another does it: {found}")
    if found := speaks_of_another(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.NAME, what=f"it says so of another: {found}")


def _retouched(sentence: str, passage: str) -> Iterator[GroundingFault]:
    """Find what is changed in a sentence that repeats the passage otherwise, and what it claims beyond it."""
    if found := denied_copy(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.OPPOSITE, what=f"it says the opposite: {found}")
    if found := put_in_place(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.NAME, what=f"it has another word there: {found}")
    if found := reversed_order(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.NAME, what=f"it has them the other way round: {found}")
    if found := claims_more(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.SCOPE, what=found)
    if found := other_time(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.DATE, what=f"it has another time relative to {found}")
    if found := other_count(sentence, passage):
        yield GroundingFault(kind=GroundingFaultKind.NUMBER, what=f"it has another number: {found}")
