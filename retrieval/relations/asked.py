"""What a question asks of relations, by its words: which kinds of edges, which way, how many hops."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from retrieval.question.words import STOP_WORDS
from schemas.edges import FRONT_MATTER_KINDS, EdgeKind

STEPS_MAX = 3
LEFT_OVER_MAX = 3
"""Words that a question after how two things are joined may have besides.

One after what stands around a thing has none: "What does the policy that GOV-0017 replaces say?" asks for
more.
"""

Span = tuple[int, int]
"""Start and end in a question, in code points."""


class EdgeDirection(StrEnum):
    """Which way an edge is followed from the thing that a question names."""

    OUT = "out"
    INTO = "into"
    BOTH = "both"


_TURNED = {
    EdgeDirection.OUT: EdgeDirection.INTO,
    EdgeDirection.INTO: EdgeDirection.OUT,
    EdgeDirection.BOTH: EdgeDirection.BOTH,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Edges of these kinds, that way; with `predicates` only those with one of them."""

    kinds: frozenset[EdgeKind]
    way: EdgeDirection
    predicates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationAsked:
    """What is asked of the things that a question names.

    `steps` lead from one thing to the answer, the first of them first; `joins`: how two things are related is
    asked. `shared`: what two things have in common. `all_the_way`: the steps may be gone again and again.
    `leads`: relations are what the question is after; else they only help where nothing else is found.
    """

    steps: tuple[Step, ...] = ()
    joins: bool = False
    shared: bool = False
    all_the_way: bool = False
    leads: bool = True
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word that states a relation; `way` is set where it says so by itself, as nouns do.

    `inverse`: its subject is what the edge leads to; who affects another is what that one depends on.
    """

    start: int
    end: int
    kinds: frozenset[EdgeKind]
    way: EdgeDirection | None = None
    passive: bool = False
    inverse: bool = False
    soft: bool = False
    predicates: frozenset[str] = frozenset()


_DEPENDS, _SUPERSEDES = frozenset({EdgeKind.DEPENDS_ON}), frozenset({EdgeKind.SUPERSEDES})
_LINKS, _EXPLAINS = frozenset({EdgeKind.LINKS_TO}), frozenset({EdgeKind.EXPLAINED_BY})
_REFERS = frozenset({EdgeKind.LINKS_TO, EdgeKind.MENTIONS, *FRONT_MATTER_KINDS})
_VERBS = (
    (r"depend(?:s|ed|ing|ent)?(?:\s+\w+ly)?(?:\s+(?:up)?on)?", _DEPENDS, False),
    (r"(?:rel(?:y|ies|ied|ying)|rests?|resting|builds?|built)(?:\s+\w+ly)?\s+(?:up)?on", _DEPENDS, False),
    (r"require[sd]?|need(?:s|ed)?|presuppose[sd]?", _DEPENDS, True),
    (r"supersed(?:e|es|ed|ing)|obsolet(?:es|ed|ing)|replac(?:e|es|ed|ing)", _SUPERSEDES, False),
    (r"relat(?:e|es|ing)\s+to|relat(?:e|es)", frozenset({EdgeKind.RELATES_TO}), False),
    (r"link(?:s|ed|ing)?(?:\s+back)?(?:\s+to)?", _LINKS, False),
    (r"point(?:s|ed|ing)?\s+(?:back\s+)?(?:to|at)", _REFERS, False),
    (r"refer(?:s|red|ring)?\s+to|referenc(?:e|es|ed|ing)|cit(?:e|es|ed|ing)", _REFERS, True),
    (r"mention(?:s|ed|ing)?", _REFERS, True),
    (r"explain(?:s|ed|ing)?|describ(?:e|es|ed|ing)|documented", _EXPLAINS, True),
)
_NOUNS = (
    (r"dependenc(?:y|ies)|prerequisites?", _DEPENDS, EdgeDirection.OUT, False),
    (r"depend[ea]nts?(?!\s+(?:up)?on)", _DEPENDS, EdgeDirection.INTO, False),
    (r"successors?|replacements?", _SUPERSEDES, EdgeDirection.INTO, False),
    (r"predecessors?", _SUPERSEDES, EdgeDirection.OUT, False),
    (r"related(?:\s+to)?|relations?(?:hips?)?|connected(?:\s+(?:to|with))?|connections?|neighbou?rs?",
     FRONT_MATTER_KINDS, EdgeDirection.BOTH, False),
)  # fmt: skip
_AFFECTS = r"affect(?:s|ed|ing)?|impact(?:s|ed|ing)?"
_DENIES = re.compile(r"\b(?:not|no|never|neither|without|except)\b|n['’]t\b", re.IGNORECASE)
"""Edges say what is so, and no list of them answers what is not."""
_NEVER_PASSIVE = re.compile(r"dependent|built", re.IGNORECASE)
_PARTICIPLE = re.compile(r"\w+ed\b", re.IGNORECASE)
_BE = re.compile(r"\b(?:is|are|was|were|be|been|being|gets?|got)\b", re.IGNORECASE)
_AGENT = re.compile(r"\W*(?:by|from)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\W*(?:it|them|this|that one)\b", re.IGNORECASE)
_AUXILIARY = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)
_OF = re.compile(r"\s*(?:of|to|for)\s+(?:the\s+)?(?:\w+\s+)?", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?\s+(?:\w+\s+)?", re.IGNORECASE)
_ALONGSIDE = re.compile(r"[\s,/]*(?:or|and|/|,)\s*", re.IGNORECASE)

_JOINS = re.compile(
    r"\b(?:relat\w*|connect\w*|link\w*|joins?|joined|between|path|chain|ties?|tied"
    r"|(?:ha(?:ve|s)|anything|something|nothing) to do with|leads?\s+(?:\w+\s+)?to|through which"
    r"|by way of|via|get from|go from|stand to each other)\b",
    re.IGNORECASE,
)
_SHARED = re.compile(r"\b(?:both|in common|share[sd]?|common)\b", re.IGNORECASE)
_COMPARES = re.compile(
    r"\b(?:differ\w*|distinguish\w*|compare[sd]?|comparison|versus|vs|choose|better|rather than|prefer\w*)\b",
    re.IGNORECASE,
)
_ALL_THE_WAY = re.compile(
    r"\b(?:transitive\w*|indirect\w*|ultimate\w*|in the end|all the way|recursive\w*|any number of)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\W*(?:why|when|who|whom|how\s+(?:often|long|much|far|old|soon)|how\s+(?:do|can|should|would|to|must|may)\s)",
    re.IGNORECASE,
)
"""Questions after a reason, a time or a way to do something, whatever relation stands in them."""
_DOCUMENT = re.compile(
    r"\b(?:documents?|docs?|pages?|polic(?:y|ies)|records?|decisions?|files?|articles?|guides?|standards?|specs?"
    r"|specifications?|requirements|proposals?|sections?|chapters?|[A-Z]{2,6}s?)\b"
)
_SAYS_NOTHING = STOP_WORDS | frozenset(
    word.rstrip("s")
    for word in re.findall(
        r"\w+",
        """all any anything something everything nothing thing other another one only also direct directly
        indirect indirectly transitively ultimately recursively currently current now still exactly list
        show name tell give find index repository corpus site whole entire way hop step edge each else not
        no there through via between both common share path chain document doc page policy policies record
        decision file article guide standard spec specification requirement runbook proposal section
        chapter number many kind type ever been got get by rest just back turn please know itself its
        related relation relationship connected connection joined tied tie two three what which is are
        does do did was were how has had go goe me will change changed valid force""",
    )
)
_AUX = r"(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|may|might|must|shall|should)"
_WANTED = re.compile(rf"\b(?:which|what|list|how many) ((?:(?!{_AUX}\b)[\w-]+ ){{1,3}})", re.IGNORECASE)
"""The noun that is asked for: one space between words, since what is cut out leaves more."""


def read_relations_asked(
    text: str, things: Sequence[Collection[Span]], *, predicates: Collection[str] = ()
) -> RelationAsked | None:
    """Read what *text* asks of the things it names; None where it asks for no relation.

    Args: things: where each stands, at least one. predicates: relations that front matter states under keys
    of its own, around the things.
    """
    words = _words(text, predicates)
    taken = [*(span for spans in things for span in spans), *((word.start, word.end) for word in words)]
    kept = _without(text, taken)
    compares, left, wanted = bool(_COMPARES.search(text)), _left_over(kept), _wanted(kept)
    if len(things) > 1:
        steps = _steps(text, things[0], words)
        if compares or not (words or _JOINS.search(text)):
            return None
        return RelationAsked(
            steps=steps,
            joins=True,
            shared=bool(_SHARED.search(text)) and bool(steps),
            leads=left <= LEFT_OVER_MAX and not _DENIES.search(kept),
            wanted=wanted,
        )
    of_their_own = any(word.predicates for word in words)
    if not words or compares or (_OTHER.match(text) and not of_their_own):
        return None
    soft = all(word.soft for word in words) and not _DOCUMENT.search(_without(text, things[0]))
    return RelationAsked(
        steps=_steps(text, things[0], words),
        all_the_way=bool(_ALL_THE_WAY.search(text)),
        leads=left == 0 and not soft and not _DENIES.search(kept),
        wanted=wanted,
    )


def _words(text: str, predicates: Collection[str]) -> tuple[_Word, ...]:
    """Return what states a relation, in order of place; what overlaps gives way to what comes first here."""
    found: list[_Word] = []
    for word in (*_of_predicates(text, predicates), *_verbs(text), *_nouns(text)):
        if not any(word.start < other.end and other.start < word.end for other in found):
            found.append(word)
    return tuple(sorted(found, key=lambda word: word.start))


def _of_predicates(text: str, predicates: Collection[str]) -> Iterable[_Word]:
    """`implements` is asked by implement, implements and implemented; `owned_by` turns the edge round."""
    for predicate in sorted(predicates, key=lambda one: (-len(one), one)):
        first, *rest = re.findall(r"[^\W_]+", predicate.casefold()) or [""]
        stem = re.sub(r"(?:ed|es|s|e)$", "", first)
        if len(stem) < 3:
            continue
        for match in re.finditer(rf"\b{re.escape(stem)}(?:e|s|es|ed|d|ing)?\b", text, re.IGNORECASE):
            yield _Word(
                start=match.start(),
                end=match.end(),
                kinds=frozenset({EdgeKind.RELATES_TO}),
                passive=_is_passive(text, match) != (rest[-1:] == ["by"]),
                predicates=frozenset({predicate}),
            )


def _verbs(text: str) -> Iterable[_Word]:
    for pattern, kinds, soft in _VERBS:
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            passive = _is_passive(text, match)
            yield _Word(start=match.start(), end=match.end(), kinds=kinds, soft=soft, passive=passive)
    for match in re.finditer(rf"\b(?:{_AFFECTS})\b", text, re.IGNORECASE):
        passive = _is_passive(text, match)
        yield _Word(
            start=match.start(), end=match.end(), kinds=_DEPENDS, soft=True, passive=passive, inverse=True
        )


def _nouns(text: str) -> Iterable[_Word]:
    for pattern, kinds, way, soft in _NOUNS:
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            yield _Word(start=match.start(), end=match.end(), kinds=kinds, way=way, soft=soft)


def _is_passive(text: str, match: re.Match[str]) -> bool:
    """Whether a participle has a form of "be" shortly before it, or its agent behind it."""
    if not _PARTICIPLE.match(match[0]) or _NEVER_PASSIVE.match(match[0]):
        return False
    before = " ".join(text[: match.start()].split()[-6:])
    return bool(_BE.search(before) or _AGENT.match(text, match.end()))


def _steps(text: str, spans: Collection[Span], words: Collection[_Word]) -> tuple[Step, ...]:
    """Return the steps from a thing outwards: what stands nearest to its name is gone first."""
    start, end = min(spans, default=(0, 0))
    ranked = sorted(words, key=lambda word: (_gap(text, word, start, end), word.start > start, word.start))
    steps: list[Step] = []
    last: _Word | None = None
    for word in ranked:
        step = Step(kinds=word.kinds, way=_way(text, word, start), predicates=word.predicates)
        if last and steps[-1].way is step.way and _stand_together(text, last, word):
            steps[-1] = replace(steps[-1], kinds=steps[-1].kinds | step.kinds)
        else:
            steps.append(step)
        last = word
    return tuple(steps[:STEPS_MAX])


def _gap(text: str, word: _Word, start: int, end: int) -> int:
    """Characters between a word and the name; none where the name belongs to the word: "successor of X"."""
    between = text[word.end : start] if word.end <= start else text[end : word.start]
    if word.way is not None and (_OF.fullmatch(between) or _POSSESSIVE.fullmatch(between)):
        return 0
    return len(between)


def _stand_together(text: str, one: _Word, other: _Word) -> bool:
    first, second = sorted((one, other), key=lambda word: word.start)
    return bool(_ALONGSIDE.fullmatch(text[first.end : second.start]))


def _way(text: str, word: _Word, start: int) -> EdgeDirection:
    turned = word.inverse if word.way is None else _is_subject(text, word, start)
    way = _said_way(text, word, start)
    return _TURNED[way] if turned else way


def _is_subject(text: str, word: _Word, start: int) -> bool:
    """Whether the name is the noun and does not have it, as in "X is the successor of what"."""
    if start >= word.start:
        return False
    asks_whose = re.match(r"\W*(?:of|for|to)\b", text[word.end :], re.IGNORECASE)
    stands_as = re.search(r"\b(?:has|have|had)\b.*\bas\s+(?:an?|its|their|the)\s+$", text[: word.start])
    return bool(asks_whose or stands_as) and "'" not in text[start : word.start]


def _said_way(text: str, word: _Word, start: int) -> EdgeDirection:
    if word.way is not None:
        return word.way
    behind = start >= word.end or (
        bool(_PRONOUN.match(text, word.end)) and not _AUXILIARY.search(text[:start])
    )
    if behind and not word.predicates and _AGENT.match(text, word.end):
        return EdgeDirection.OUT
    return EdgeDirection.OUT if behind == word.passive else EdgeDirection.INTO


def _left_over(kept: str) -> int:
    """Count the words that say what else a question is after; names and relations are cut out of *kept*."""
    acronyms = {one.casefold().rstrip("s") for one in re.findall(r"\b[A-Z]{2,6}s?\b", kept)}
    rest = {word.rstrip("s") for word in re.findall(r"\w\w+", kept.casefold())}
    return len(rest - acronyms - _SAYS_NOTHING - {word.rstrip("s") for word in _wanted(kept)})


def _without(text: str, spans: Collection[Span]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _wanted(text: str) -> tuple[str, ...]:
    """Return what is asked for, as words in the singular: "adr" of "Which ADRs depend on"."""
    match = _WANTED.search(text)
    words = match[1].casefold().split() if match else []
    return tuple(dict.fromkeys(re.sub(r"(?<=\w\w)s$", "", re.sub(r"ies$", "y", word)) for word in words))
