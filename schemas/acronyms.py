"""Acronyms that a text explains: "Write-Ahead Log (WAL)", "WAL (Write-Ahead Log)".

Questions and the catalogue of an index go by the same rule: what the index knows, a question can mean.
Source: Schwartz and Hearst, PSB 2003, with initials alone: each letter must begin a word.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_SHORT = r"[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*s?"
_BRACKETS = re.compile(r"\(([^()]{2,100})\)")
_ACRONYM = re.compile(rf"{_SHORT}\Z")
_ACRONYM_BEFORE = re.compile(rf"(?<![\w-])({_SHORT})\s*\Z")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_LINKING = frozenset({"a", "an", "and", "for", "in", "of", "on", "or", "the", "to", "with"})
_BEFORE = 120
"""Code points in front of a bracket in which an expansion may stand."""


@dataclass(frozen=True, slots=True)
class Acronym:
    """A short form and what it stands for, both as the text writes them."""

    short: str
    expansion: str


def find_acronyms(text: str) -> tuple[Acronym, ...]:
    """Return the acronyms that a text explains in brackets, in order, each once.

    Every letter of the short form begins a word of the expansion, or a part of a hyphenated one; articles
    and prepositions may be left out.
    """
    return tuple(dict.fromkeys(_found(text)))


def expansions_of(texts: Iterable[str]) -> Mapping[str, str]:
    """Return what the acronyms that texts explain stand for; the first explanation of each counts."""
    found: dict[str, str] = {}
    for text in texts:
        for acronym in find_acronyms(text):
            found.setdefault(acronym.short, acronym.expansion)
    return found


def _found(text: str) -> Iterator[Acronym]:
    for bracket in _BRACKETS.finditer(text):
        inside, before = bracket[1].strip(), text[max(0, bracket.start() - _BEFORE) : bracket.start()]
        if "\n" in inside:
            continue
        if _ACRONYM.match(inside):
            expansion = _expansion_before(before.split("\n")[-1], inside)
            if expansion:
                yield Acronym(inside, expansion)
        elif (short := _ACRONYM_BEFORE.search(before)) and _spells(short[1], inside):
            yield Acronym(short[1], inside)


def _expansion_before(before: str, short: str) -> str | None:
    """The shortest run of words at the end of *before* that the letters of *short* begin."""
    if before.rstrip().endswith((".", ",", ";", ":")):
        return None
    words = list(_WORDS.finditer(before))
    letters = len(_letters(short))
    for count in range(1, min(len(words), letters + 4) + 1):
        start = words[-count].start()
        if _spells(short, before[start:].rstrip()):
            return before[start:].rstrip()
    return None


def _spells(short: str, expansion: str) -> bool:
    """Whether the expansion's words begin with the letters, in order, and none that counts is left over."""
    if re.search(r"[.,;:!?]", expansion):
        return False
    words = [word.casefold() for word in _WORDS.findall(expansion)]
    if not words or words[0] in _LINKING or words[-1] in _LINKING:
        return False
    return len(words) > 1 and _matches(_letters(short), words)


def _matches(letters: str, words: list[str]) -> bool:
    # How many letters the words so far may have begun. To try one way after the other takes time without end.
    begun = {0}
    for word in words:
        by_letter = {count + 1 for count in begun if letters[count : count + 1] == word[0]}
        begun = by_letter | (begun if word in _LINKING else set())
    return len(letters) in begun


def _letters(short: str) -> str:
    plural = len(short) > 2 and short.endswith("s") and short[-2].isupper()
    return (short[:-1] if plural else short).casefold()
