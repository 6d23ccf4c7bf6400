"""What documents call themselves, their sections and their terms: the rows of the catalogue."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

_CODE_PREFIX = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![A-Za-z0-9])")

WORD = re.compile(r"[^\W_]+")
"""A word: letters and digits."""


class NameRole(StrEnum):
    """What makes a text a name of something."""

    DOC_ID = "doc_id"
    CODE_PREFIX = "code_prefix"
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

    @property
    def start(self) -> str:
        """Where in a text the name may begin: see `starts_of`."""
        return start_of(self.text)


def start_of(name: str) -> str:
    """Return the first two words of a name as written, or its only one; nothing for a name without words.

    >>> start_of("(the) Write-Ahead Log")
    'the) Write'
    """
    words = [*islice(WORD.finditer(name), 2)]
    return name[words[0].start() : words[-1].end()] if words else ""


def starts_of(text: str) -> Iterator[str]:
    """Yield each word of a text, alone and with the next one as written: where a name may begin.

    >>> list(starts_of("the Write-Ahead Log"))
    ['the', 'the Write', 'Write', 'Write-Ahead', 'Ahead', 'Ahead Log', 'Log']
    """
    words = [(match.start(), match.end()) for match in WORD.finditer(text)]
    for (start, end), (_, following) in zip(words, (*words[1:], (0, 0)), strict=True):
        yield text[start:end]
        if following:
            yield text[start:following]


def code_prefix(doc_id: str) -> str | None:
    """Return `PRD-0008` for `PRD-0008-some-title`, or None where an id begins with no code."""
    match = _CODE_PREFIX.match(doc_id)
    return match[0] if match else None
