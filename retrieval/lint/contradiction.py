"""Statements of two pages that cannot both hold: one number, unit, date, denial or default apart."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from retrieval.lint.findings import LintFinding, Severity
from retrieval.lint.opposed import Contrast, opposed, tells_cases
from retrieval.lint.prose import ProseSentence, sentences
from retrieval.lint.similar import similar_pairs
from retrieval.lint.site import LintedSite, same_version
from retrieval.lint.statement import Term, TermKind, frame_of, terms_of
from schemas.nodes import Chunk

ALIKE = 0.75
"""Least share of words that two statements must have in common, numbers and denials aside."""
TELLING = 8
"""Fewest words by which a statement without a name says what it speaks of."""
NAMED = 2
"""The same of one with the name of a setting, a function or a file."""
ANYWAY = 3
"""Fewest words of a statement under the heading of its entry."""
COMMON = 20
"""Documents from which on a sentence is boilerplate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """What several passages say in the same words."""

    text: str
    terms: tuple[Term, ...]
    frame: frozenset[str]
    said: tuple[ProseSentence, ...]

    @property
    def docs(self) -> frozenset[str]:
        return frozenset(one.chunk.doc for one in self.said)

    @property
    def entries(self) -> frozenset[str]:
        return frozenset(_entry(one.chunk) for one in self.said) - {""}


def contradictions(site: LintedSite) -> Iterator[LintFinding]:
    """Find pairs of statements of one thing in two documents of one version that differ in one telling word.

    A document that has both tells cases apart, so it contradicts nobody.
    """
    stated = _statements(site)
    for one, other in similar_pairs([each.frame for each in stated], least=ALIKE):
        mine, theirs = stated[one], stated[other]
        difference = _apart(site, mine, theirs)
        if difference is not None:
            yield _finding(site, mine, theirs, difference)


def _statements(site: LintedSite) -> Sequence[_Statement]:
    """Return what the site states, each once, in the order of pages."""
    found: dict[str, list[ProseSentence]] = {}
    for one in _all(site.passages):
        found.setdefault(one.text, []).append(one)
    read = (_read(text, said) for text, said in found.items())
    return [one for one in read if one is not None and len(one.docs) < COMMON]


def _all(passages: Iterable[Chunk]) -> Iterator[ProseSentence]:
    for chunk in passages:
        yield from sentences(chunk)


def _read(text: str, said: Sequence[ProseSentence]) -> _Statement | None:
    if tells_cases(text):
        return None
    terms = terms_of(text)
    told = [one for one in terms if one.kind in (TermKind.WORD, TermKind.NAME, TermKind.SIDE)]
    if len(told) < ANYWAY:
        return None
    return _Statement(text=text, terms=terms, frame=frame_of(terms), said=tuple(said))


def _apart(site: LintedSite, mine: _Statement, theirs: _Statement) -> Contrast | None:
    if mine.docs & theirs.docs or not _one_version(site, mine, theirs):
        return None
    same_entry = bool(mine.entries & theirs.entries)
    if not same_entry and not _speaks_for_itself(mine.terms):
        return None
    return opposed(mine.terms, theirs.terms, same_entry=same_entry)


def _one_version(site: LintedSite, mine: _Statement, theirs: _Statement) -> bool:
    return same_version(site.documents[one.said[0].chunk.doc] for one in (mine, theirs))


def _entry(chunk: Chunk) -> str:
    """Return what a passage is an entry of, if it has one name everywhere: a setting, a function.

    "Precision" stands over one section of many pages, and an option such as `--all` belongs to its command.
    """
    entry = chunk.heading_path[-1] if len(chunk.heading_path) > 1 else ""
    return entry.casefold() if re.fullmatch(r"\w+(?:[._:]+\w+)+(?:\(.*\))?(?: \(\w+\))?", entry) else ""


def _speaks_for_itself(terms: Sequence[Term]) -> bool:
    """Whether a statement names its subject, or says enough for it to be known.

    An option names none, since many commands have one of that name.
    """
    named = any(one.kind is TermKind.NAME and not one.value.startswith(("-", "<", "[")) for one in terms)
    return sum(one.kind is TermKind.WORD for one in terms) >= (NAMED if named else TELLING)


_SAYS: Mapping[TermKind, str] = {
    TermKind.NUMBER: "gives {mine} where the other has {theirs}",
    TermKind.DATE: "gives {mine} where the other has {theirs}",
    TermKind.SIDE: 'says "{mine}" where the other says "{theirs}"',
}


def _finding(site: LintedSite, mine: _Statement, theirs: _Statement, difference: Contrast) -> LintFinding:
    first, second = mine.said[0], theirs.said[0]
    denied = "denies what the other says" if difference.mine else "says what the other denies"
    told = _SAYS.get(difference.kind, denied).format(mine=difference.mine, theirs=difference.theirs)
    name = site.documents[second.chunk.doc].name
    places = tuple(site.place_of(one.chunk, one.text) for one in (*mine.said[:1], *theirs.said[:1]))
    key = sorted((site.documents[one.chunk.doc].uri, one.text) for one in (first, second))
    return LintFinding(
        rule="contradiction",
        severity=Severity.WARNING,
        message=f"of two statements in the same words, this one {told} ({name})",
        places=places,
        key=tuple(part for one in key for part in one),
    )
