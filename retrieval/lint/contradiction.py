"""Statements of two pages that cannot both hold: one number, unit, date, denial or default apart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from retrieval.lint.findings import Finding, Severity
from retrieval.lint.opposed import Difference, opposed, tells_cases
from retrieval.lint.prose import Sentence, sentences
from retrieval.lint.similar import similar_pairs
from retrieval.lint.site import Site, same_version
from retrieval.lint.statement import Kind, Term, frame_of, terms_of
from schemas.nodes import Chunk

ALIKE = 0.75
"""Least share of words that two statements must have in common, numbers and denials aside."""
TELLING = 4
"""Fewest words by which a statement without a name says what it speaks of."""
COMMON = 20
"""Documents from which on a sentence is boilerplate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """What several passages say in the same words."""

    text: str
    terms: tuple[Term, ...]
    frame: frozenset[str]
    said: tuple[Sentence, ...]

    @property
    def docs(self) -> frozenset[str]:
        return frozenset(one.chunk.doc for one in self.said)

    @property
    def entries(self) -> frozenset[str]:
        return frozenset(_entry(one.chunk) for one in self.said) - {""}


def contradictions(site: Site) -> Iterator[Finding]:
    """Find pairs of statements of one thing in two documents of one version that differ in one telling word.

    A document that has both tells cases apart, so it contradicts nobody.
    """
    stated = _statements(site)
    for one, other in similar_pairs([each.frame for each in stated], least=ALIKE):
        mine, theirs = stated[one], stated[other]
        difference = _apart(site, mine, theirs)
        if difference is not None:
            yield _finding(site, mine, theirs, difference)


def _statements(site: Site) -> Sequence[_Statement]:
    """Return what the site states, each once, in the order of pages."""
    found: dict[str, list[Sentence]] = {}
    for one in _all(site.passages):
        found.setdefault(one.text, []).append(one)
    read = (_read(text, said) for text, said in found.items())
    return [one for one in read if one is not None and len(one.docs) < COMMON]


def _all(passages: Iterable[Chunk]) -> Iterator[Sentence]:
    for chunk in passages:
        yield from sentences(chunk)


def _read(text: str, said: Sequence[Sentence]) -> _Statement | None:
    if tells_cases(text):
        return None
    terms = terms_of(text)
    told = [one for one in terms if one.kind in (Kind.WORD, Kind.NAME, Kind.SIDE)]
    if len(told) < TELLING:
        return None
    return _Statement(text=text, terms=terms, frame=frame_of(terms), said=tuple(said))


def _apart(site: Site, mine: _Statement, theirs: _Statement) -> Difference | None:
    if mine.docs & theirs.docs or not _one_version(site, mine, theirs):
        return None
    same_entry = bool(mine.entries & theirs.entries)
    if not same_entry and not _speaks_for_itself(mine.terms):
        return None
    return opposed(mine.terms, theirs.terms, same_entry=same_entry)


def _one_version(site: Site, mine: _Statement, theirs: _Statement) -> bool:
    return same_version(site.documents[one.said[0].chunk.doc] for one in (mine, theirs))


def _entry(chunk: Chunk) -> str:
    """Return what a passage is an entry of: the last of its headings, as far as it says which one."""
    return chunk.heading_path[-1].casefold() if len(chunk.heading_path) > 1 else ""


def _speaks_for_itself(terms: Sequence[Term]) -> bool:
    """Whether a statement names its subject, or says enough for it to be known."""
    named = any(one.kind is Kind.NAME for one in terms)
    return sum(one.kind is Kind.WORD for one in terms) >= (TELLING if named else 2 * TELLING)


_SAYS: Mapping[Kind, str] = {
    Kind.NUMBER: "gives {mine} where the other has {theirs}",
    Kind.DATE: "gives {mine} where the other has {theirs}",
    Kind.SIDE: 'says "{mine}" where the other says "{theirs}"',
}


def _finding(site: Site, mine: _Statement, theirs: _Statement, difference: Difference) -> Finding:
    first, second = mine.said[0], theirs.said[0]
    denied = "denies what the other says" if difference.mine else "says what the other denies"
    told = _SAYS.get(difference.kind, denied).format(mine=difference.mine, theirs=difference.theirs)
    name = site.documents[second.chunk.doc].name
    places = tuple(site.place_of(one.chunk, one.text) for one in (*mine.said[:1], *theirs.said[:1]))
    key = sorted((site.documents[one.chunk.doc].uri, one.text) for one in (first, second))
    return Finding(
        rule="contradiction",
        severity=Severity.WARNING,
        message=f"of two statements in the same words, this one {told} ({name})",
        places=places,
        key=tuple(part for one in key for part in one),
    )
