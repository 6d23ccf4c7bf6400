"""Names in documents: rows of the catalogue, acronyms that a text explains, and the port of extractors.

Questions and the catalogue of an index expand acronyms by the same rule: what the index knows, a question can
mean. Source: Schwartz and Hearst, PSB 2003, with initials alone: each letter must begin a word.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any, Protocol

_CODE_PREFIX = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![A-Za-z0-9])")

WORD = re.compile(r"[^\W_]+")
"""A word: letters and digits."""


class NameRole(StrEnum):
    """What makes a text a name of something."""

    DOC_ID = "doc_id"
    CODE_PREFIX = "leading_code"
    TITLE = "title"
    ALIAS = "alias"
    HEADING = "heading"
    TERM = "term"
    ACRONYM = "acronym"


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """One text that a document gives to an entity, as written.

    `entity` and `disambiguation` are the entity's natural key. `node` is the document or section that the
    name is of, None for a term that the document only defines.
    """

    text: str
    role: NameRole
    entity: str
    disambiguation: str = ""
    node: str | None = None

    @property
    def folded(self) -> str:
        """What names of one entity have in common: terms that differ in capitals alone are one."""
        return self.entity.casefold()


def start_of(name: str) -> tuple[str, ...]:
    """Return the first two words of a name, whatever stands between them, or its only one, or nothing.

    >>> start_of("(the) Write-Ahead Log")
    ('the', 'Write')
    """
    return tuple(match[0] for match in islice(WORD.finditer(name), 2))


def leading_code(doc_id: str) -> str | None:
    """Return `PRD-0008` for `PRD-0008-some-title`, or None where an id begins with no code."""
    match = _CODE_PREFIX.match(doc_id)
    return match[0] if match else None


Message = Mapping[str, str]
"""One turn of a conversation with a model: `role` and `content`."""

Complete = Callable[[Sequence[Message], Mapping[str, Any] | None], str]
"""Ask a model for JSON of a schema, or for text where there is none, and give its answer as it came.

Whether the JSON keeps the schema is for the caller to check: not every server makes its model keep to one.
Raises: TransientError: it may answer later; TerminalError: it never will.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A statement; `text` is the part of the chunk that makes it."""

    subject: str
    predicate: str
    object: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Names and statements that a text has, character by character; `dropped` counts those that did not."""

    names: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    dropped: int = 0


class EntityExtractor(Protocol):
    """Reads names and statements from a text; what it gives depends on the text and its own key alone."""

    @property
    def key(self) -> str:
        """Everything that decides what it finds."""

    def extract(self, text: str) -> Extraction:
        """Return what stands in the text; nothing where it cannot tell, which is no error."""


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
