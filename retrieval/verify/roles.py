"""Who does what: a name that does, in a sentence, what in the passage others do, or is done to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.verify.clauses import split_sentences, stem, whole
from retrieval.verify.lexicon import IRREGULAR
from retrieval.verify.names import find_names

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
    named = {word.casefold() for one in parts for word in find_names(one)}
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
