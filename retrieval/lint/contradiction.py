"""Statements of two pages that cannot both hold: one number, unit, date, denial or default apart."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from retrieval.lint.findings import LintFinding, Severity
from retrieval.lint.opposed import Contrast, opposed, tells_cases
from retrieval.lint.prose import ProseSentence, sentences
from retrieval.lint.similar import similar_pairs
from retrieval.lint.site import LintedSite, same_version
from retrieval.lint.statement import Term, TermKind, frame_of, terms_of
from retrieval.verify.clauses import stem
from schemas.nodes import Chunk

ALIKE = 0.75
"""Least share of words that two statements must have in common, numbers and denials aside."""
TELLING = 8
"""Fewest words by which a statement without a name says what it speaks of."""
NAMED = 2
"""The same of one with the name of a setting, a function or a file."""
_DEFAULT = stem("default")
ANYWAY = 3
"""Fewest words of a statement in its entry, or beside a sentence that both pages have."""
COMMON = 20
"""Documents from which on a sentence is boilerplate."""
_IDENTIFIER = re.compile(r"\w(?=[\w.:]*[._:][\w.:])[\w.:]*+(?<=\w)(?:\(.*\))?(?: \(\w+\))?")
"""Words that `.`, `:` or `_` joins; the last is part of a word too, and must not be tried as both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """What passages of one entry, or of none, say in the same words.

    `docs` are the documents that say it there, `anywhere` those that say it at all, `beside` the sentences
    before and after it.
    """

    text: str
    entry: str
    terms: tuple[Term, ...]
    said: tuple[ProseSentence, ...]
    docs: frozenset[str]
    anywhere: frozenset[str]
    beside: frozenset[str]

    @property
    def alone(self) -> bool:
        """Whether it says by itself what it speaks of."""
        return _speaks_for_itself(self.terms)

    @property
    def frame(self) -> frozenset[str]:
        """Words by which it is compared; what says little is compared within its entry."""
        little = not self.alone and len(_told(self.terms)) < ANYWAY
        return frame_of(self.terms) | (frozenset({f"entry:{self.entry}"}) if little else frozenset())


def contradictions(site: LintedSite) -> Iterator[LintFinding]:
    """Find pairs of statements of one thing in two documents of one version that differ in one telling word.

    A document that has both tells cases apart, so it contradicts nobody.
    """
    stated = _statements(site)
    for one, other in similar_pairs([each.frame for each in stated], least=ALIKE):
        mine, theirs = stated[one], stated[other]
        contrast = _contrast(site, mine, theirs)
        if contrast is not None:
            yield _finding(site, mine, theirs, contrast)


def _statements(site: LintedSite) -> Sequence[_Statement]:
    """Return what the site states, once for each entry, in the order of pages."""
    found: dict[tuple[str, str], list[ProseSentence]] = {}
    anywhere: dict[str, set[str]] = {}
    beside: dict[tuple[str, str], set[str]] = {}
    for chunk in site.passages:
        entry = _entry(chunk)
        told = tuple(sentences(chunk))
        for at, one in enumerate(told):
            key = (one.text, entry)
            found.setdefault(key, []).append(one)
            anywhere.setdefault(one.text, set()).add(chunk.doc)
            beside.setdefault(key, set()).update(
                each.text for each in (*told[:at][-1:], *told[at + 1 : at + 2])
            )
    read = (_read(*key, said, anywhere[key[0]], beside[key]) for key, said in found.items())
    return [one for one in read if one is not None]


def _read(
    text: str, entry: str, said: Sequence[ProseSentence], docs: Collection[str], beside: Collection[str]
) -> _Statement | None:
    """Return a statement, or None for boilerplate, cases, and what says nothing of anything known."""
    if (len(docs) >= COMMON and not entry) or tells_cases(text):
        return None
    terms = terms_of(text)
    short = bool(entry) and any(one.value == _DEFAULT for one in _told(terms))
    if len(_told(terms)) < ANYWAY and not short and not _speaks_for_itself(terms):
        return None
    return _Statement(
        text=text,
        entry=entry,
        terms=terms,
        said=tuple(said),
        docs=frozenset(one.chunk.doc for one in said),
        anywhere=frozenset(docs),
        beside=frozenset(beside),
    )


def _told(terms: Sequence[Term]) -> Sequence[Term]:
    """Return the terms that say what a statement is of."""
    return [one for one in terms if one.kind in (TermKind.WORD, TermKind.NAME, TermKind.SIDE)]


def _contrast(site: LintedSite, mine: _Statement, theirs: _Statement) -> Contrast | None:
    same_entry = bool(mine.entry) and mine.entry == theirs.entry
    both = mine.docs & theirs.docs if same_entry else mine.anywhere & theirs.anywhere
    if both or not _one_version(site, mine, theirs):
        return None
    contrast = opposed(mine.terms, theirs.terms, same_entry=same_entry)
    alone = mine.alone and theirs.alone
    return contrast if contrast and (same_entry or alone or _is_beside(mine, theirs, contrast)) else None


def _is_beside(mine: _Statement, theirs: _Statement, contrast: Contrast) -> bool:
    """Whether a sentence that both pages have beside it tells that a short statement is of one thing.

    It does not for numbers: sections worded alike give each its own.
    """
    told = contrast.kind in (TermKind.NOT, TermKind.SIDE)
    return told and mine.entry == theirs.entry and bool(mine.beside & theirs.beside)


def _one_version(site: LintedSite, mine: _Statement, theirs: _Statement) -> bool:
    return same_version(site.documents[one.said[0].chunk.doc] for one in (mine, theirs))


def _entry(chunk: Chunk) -> str:
    """Return what a passage is an entry of, if it has one name everywhere: a setting, a function.

    "Precision" stands over one section of many pages, and an option such as `--all` belongs to its command.
    """
    entry = chunk.heading_path[-1] if len(chunk.heading_path) > 1 else ""
    return entry.casefold() if _IDENTIFIER.fullmatch(entry) else ""


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


def _finding(site: LintedSite, mine: _Statement, theirs: _Statement, contrast: Contrast) -> LintFinding:
    first, second = mine.said[0], theirs.said[0]
    denied = "denies what the other says" if contrast.mine else "says what the other denies"
    words = (contrast.mine, contrast.theirs)
    if contrast.kind is TermKind.SIDE:
        words = (_written(first.text, contrast.mine), _written(second.text, contrast.theirs))
    told = _SAYS.get(contrast.kind, denied).format(mine=words[0], theirs=words[1])
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


def _written(text: str, value: str) -> str:
    """Return a word as a sentence has it, by its stem."""
    return next((word for word in re.findall(r"\w+", text) if word.casefold().startswith(value)), value)
