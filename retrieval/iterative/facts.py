"""What one passage says: names and statements, each with the place in the passage that says it."""

import re
from dataclasses import dataclass
from enum import StrEnum

Span = tuple[int, int]
"""Start and end in a passage's text, in code points."""


class EntityKind(StrEnum):
    """What an entity is, as far as a question can ask for it."""

    PERSON = "person"
    PLACE = "place"
    DATE = "date"
    ORGANISATION = "organisation"
    WORK = "work"
    THING = "thing"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMention:
    """A name where it stands; `span` is None where only the passage's title or headings have it.

    `ref` is what the index knows it as: an entity, or the document of this title. `attributes` are pairs such
    as ("country", "Canada"). `aliases` are other names of the same.
    """

    step: int
    chunk: str
    span: Span | None
    name: str
    kind: EntityKind = EntityKind.THING
    attributes: tuple[tuple[str, str], ...] = ()
    aliases: tuple[str, ...] = ()
    ref: str | None = None

    @property
    def order(self) -> tuple[int, str, int, str]:
        """Order of appearance: step, passage, place; the order in which a step found its passages is none."""
        return (self.step, self.chunk, self.span[0] if self.span else -1, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A subject, a predicate and an object, and the words of a passage that say so.

    `subject_ref` and `object_ref` are what the index knows the two as.
    """

    step: int
    chunk: str
    span: Span
    subject: str
    predicate: str
    object: str
    subject_ref: str | None = None
    object_ref: str | None = None

    @property
    def order(self) -> tuple[int, str, int, str, str, str]:
        """Order of appearance, then by what is said."""
        return (self.step, self.chunk, self.span[0], self.subject, self.predicate, self.object)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """What was read in one step; `dropped` counts what a reader gave that does not stand in the passages."""

    mentions: tuple[NameMention, ...] = ()
    statements: tuple[Statement, ...] = ()
    dropped: int = 0


def find_name(name: str, text: str) -> Span | None:
    """Return where *name* first stands in *text*, whatever the case, punctuation and space, or None."""
    words = re.findall(r"\w+", name)
    if not words:
        return None
    pattern = r"(?<!\w)" + r"\W+".join(map(re.escape, words)) + r"(?!\w)"
    match = re.search(pattern, text, re.IGNORECASE)
    return match.span() if match else None
