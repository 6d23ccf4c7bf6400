"""What a passage says of one thing and a sentence of another that the passage also has."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.verify.clauses import (
    IRREGULAR,
    NEGATORS,
    Clause,
    is_filler,
    split_clauses,
    split_sentences,
    stem,
    whole,
)
from retrieval.verify.facts import find_proper_names, fold_signs, has_name, read_facts
from retrieval.verify.quantities import Quantity

_COVERED = 0.6
"""Least share of a sentence's words that a part of the passage must have to be the one meant."""
_SHARED = 3
"""Fewest words that both must have for a common word between two small ones to be in another's place."""
_TELLING = 3
"""Fewest words of a clause that can be told to be said of one thing and not of another."""
_DEFAULT = stem("default")


def speaks_of_another(sentence: str, passage: str) -> str | None:
    """Return the words of *passage* that say of another thing what *sentence* says, or None.

    Looked for are a number of another sentence in place of the one there, a name in place of another, and
    another word before the same noun: the Team plan where it is the Business plan.
    """
    heading, parts = _split(passage)
    clauses = [clause for one in parts for clause in split_clauses(one.text)]
    subject = whole(sentence)
    found = _other_count(subject, parts) or _other_number(subject, parts) or _other_number(subject, clauses)
    if found:
        return found
    said = [clause for clause in split_clauses(sentence) if len(clause.stems) >= _TELLING]
    for one in said or [subject]:
        for among in (parts, clauses):
            if other := _other_name(one, among, heading) or _other_kind(one, among):
                return other
    return None


def _split(passage: str) -> tuple[Clause, list[Clause]]:
    """Return the heading, of which everything may be said without its name, and all sentences."""
    first, _, _ = passage.partition("\n")
    title = "" if first == passage or re.search(r"[.!?:;]\W*$", first) else first
    return whole(title), [whole(one) for one in split_sentences(passage)]


def _covers(said: Clause, part: Clause, *, without: frozenset[str]) -> bool:
    """Whether *part* speaks of what *said* does; both of a default do, since there is one."""
    meant = said.stems - without
    if _DEFAULT in meant & part.stems:
        return True
    return bool(meant) and len(meant & part.stems) >= _COVERED * len(meant)


def _other_count(said: Clause, parts: list[Clause]) -> str | None:
    """Return the part that has another number before a word, and this number only before other words."""
    stated = [(value, thing, part.text) for part in parts for value, thing in _counts(part.text)]
    for value, thing in _counts(said.text):
        things = {other for same, other, _ in stated if same == value}
        if things and thing not in things:
            for another, same, text in stated:
                if same == thing and another != value:
                    return text
    return None


def _counts(text: str) -> Iterator[tuple[float, str]]:
    """Yield each number without a unit with the word that it counts."""
    for one in read_facts(text).quantities:
        after = re.match(r"\s+([^\W\d_]+)", text[one.end :])
        if one.unit is None and after and not is_filler(after[1].casefold()):
            yield one.values[0], stem(after[1].casefold())


def _other_number(said: Clause, parts: list[Clause]) -> str | None:
    mine = read_facts(said.text).quantities
    apart = [part for part in parts if not _share_one(mine, part)] if mine else []
    for one in mine:
        words = frozenset(stem(word) for word in re.findall(r"\w+", one.text.casefold()))
        holding = [part for part in parts if _share_one([one], part)]
        for part in apart:
            if not _covers(said, part, without=words):
                continue
            if any(_covers(said, other, without=words) for other in holding):
                continue
            if any(one.competes(other) for other in read_facts(part.text).quantities):
                return part.text
    return None


def _share_one(mine: Sequence[Quantity], part: Clause) -> bool:
    """Whether a part has one of the numbers; what brings two parts together lacks the other in each."""
    facts = read_facts(part.text)
    years = {float(one.year) for one in facts.dates if one.year}
    return any(
        years.intersection(one.values) or any(one.equals(other) for other in facts.quantities) for one in mine
    )


def _other_name(said: Clause, parts: list[Clause], heading: Clause) -> str | None:
    mine = _marked(said.text)
    for name in sorted(mine):
        words = frozenset({stem(name.casefold())})
        if _speaks_of(heading, name, words):
            continue
        for part in parts:
            theirs = _marked(part.text)
            if _speaks_of(part, name, words) or mine & theirs or not _covers(said, part, without=words):
                continue
            if any(name in _marked(o.text) and _covers(said, o, without=words) for o in parts):
                continue
            if any(_shape(name) == _shape(other) for other in theirs - mine):
                return part.text
    return None


def _speaks_of(part: Clause, name: str, words: frozenset[str]) -> bool:
    return words <= part.stems or has_name(name, part.text, fold_signs(part.text))


@lru_cache(maxsize=1024)
def _marked(text: str) -> frozenset[str]:
    facts = read_facts(text)
    return frozenset((*facts.codes, *find_proper_names(facts.rest)))


def _shape(name: str) -> str:
    """Return what names must share to stand for one another: all capitals, a word with a capital."""
    if name.isupper():
        return "capitals"
    if not re.search(r"[\d_]", name):
        return "word"
    return "identifier" if re.search(r"[^\W\d]", name) else "version"


def _other_kind(said: Clause, parts: list[Clause]) -> str | None:
    for kind, thing in _kinds(said):
        words = frozenset({kind})
        there = [part for part in parts if (kind, thing) in set(_kinds(part))]
        if not there or any(_covers(said, part, without=words) for part in there):
            continue
        for part in parts:
            if kind in part.stems or not _covers(said, part, without=words):
                continue
            if len((said.stems - words) & part.stems) < _SHARED:
                continue
            others = {other for other, same in _kinds(part) if same == thing}
            if others and not others & said.stems:
                return part.text
    return None


def _kinds(clause: Clause) -> Iterator[tuple[str, str]]:
    """Yield each pair of neighbouring words that carry meaning, as stems: (bulk, job)."""
    for left, right in zip(clause.words, clause.words[1:], strict=False):
        if not {left, right} & NEGATORS and not is_filler(left) and not is_filler(right) and left.isalpha():
            yield stem(left), stem(right)


_NAME = r"[A-ZÀ-ÖØ-Þ][\w’'.&-]*"
# Nothing may be read in two ways: of "A and B and C", all combinations of them would be tried.
_NAMES = rf"{_NAME}(?:(?:\s+|\s+(?:of|de|van|von|bin|&)\s+|,\s+|,?\s+and\s+){_NAME})*"
_PAST = "|".join(sorted(IRREGULAR))
_VERB = rf"(?:[a-z]{{3,}}(?:ed|en)|{_PAST})"
_BY = re.compile(
    rf"\b((?i:{_VERB}))(?:\s+(?:in|on|at|for)\s+[\w.]+(?:\s\d+)*)?\s+by\s+(?:[a-z-]+\s+){{0,3}}({_NAMES})"
)
_DOES = re.compile(
    rf"\b({_NAMES}|[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Ww]ho|[Ww]hich)\s+(?:\w+ly\s+)?({_VERB})\b(?!\s+by\b)"
)
_DONE_TO = re.compile(rf"\b({_VERB})\s+({_NAMES})")
_UNNAMED = frozenset({"he", "she", "it", "they", "who", "which"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Role:
    """What is done, as a stem, the folded words of who does it, and the stems of the whole sentence."""

    verb: str
    names: frozenset[str]
    stems: frozenset[str]
    passive: bool


def exchanged_roles(sentence: str, passage: str) -> str | None:
    """Return what is said of a name that the passage says of others, or None.

    That is so where others do it there, all of them by name, or where it is done to this name.
    """
    parts = split_sentences(passage)
    named = {word.casefold() for one in parts for word in find_proper_names(one)}
    stated = [role for one in parts for role in _doers(one)]
    undergone = [role for one in parts for role in _roles(_DONE_TO, one, verb=1, names=2)]
    for said in _doers(sentence):
        doing = [one for one in stated if one.verb == said.verb]
        if not doing or not said.names & named or any(said.names & one.names for one in doing):
            continue
        reversed_ = any(said.names & one.names for one in undergone if one.verb == said.verb)
        if reversed_ or all(_same_deed(said, one) for one in doing):
            return f"{said.verb}: {', '.join(sorted(frozenset().union(*(one.names for one in doing))))}"
    return None


def _same_deed(said: _Role, stated: _Role) -> bool:
    """Whether two sentences tell of one deed: done by somebody in both, or sharing a further word."""
    common = (said.stems & stated.stems) - {said.verb} - said.names - stated.names
    same = said.passive and stated.passive
    return not stated.names & _UNNAMED and (same or any(not word.isdecimal() for word in common))


def _doers(text: str) -> Iterator[_Role]:
    yield from _roles(_BY, text, verb=1, names=2)
    yield from _roles(_DOES, text, verb=2, names=1)


def _roles(pattern: re.Pattern[str], text: str, *, verb: int, names: int) -> Iterator[_Role]:
    stems = whole(text).stems
    for match in pattern.finditer(text):
        words = re.findall(r"\w+", match[names].casefold())
        yield _Role(
            verb=stem(match[verb].casefold()), names=frozenset(words), stems=stems, passive=verb < names
        )
