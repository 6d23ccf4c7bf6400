"""What documents call themselves, their sections and their terms: the rows of the catalogue."""

import re
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


def start_of(name: str) -> tuple[str, ...]:
    """Return the first two words of a name, whatever stands between them, or its only one, or nothing.

    >>> start_of("(the) Write-Ahead Log")
    ('the', 'Write')
    """
    return tuple(match[0] for match in islice(WORD.finditer(name), 2))


def code_prefix(doc_id: str) -> str | None:
    """Return `PRD-0008` for `PRD-0008-some-title`, or None where an id begins with no code."""
    match = _CODE_PREFIX.match(doc_id)
    return match[0] if match else None
