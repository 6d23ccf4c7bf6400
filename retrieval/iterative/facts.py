"""What one passage says: names and statements with their places, and what kind of thing each name is."""

import re
from dataclasses import dataclass
from enum import StrEnum

from schemas.evidence import Evidence

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


_BRACKETED = re.compile(r"(?P<name>.+?)\s*\((?P<kind>[^()]+)\)\s*")


def passage_title(passage: Evidence) -> str:
    """Return the title of the document: its top heading, else where it stands, else its file or address."""
    listed = (*passage.heading_path[:1], *passage.breadcrumbs[-1:], passage.file_path, passage.url)
    return next((one for one in listed if one), passage.doc)


def title_and_kind(title: str) -> tuple[str, str]:
    """Return "Mercury" and "planet" of "Mercury (planet)"; the second is empty without brackets."""
    match = _BRACKETED.fullmatch(title)
    return (match["name"], match["kind"]) if match else (title, "")


_ASKED = (
    (EntityKind.PERSON, r"who|whom|whose|which (?:person|actor|actress|author|director|singer|president)"),
    (EntityKind.DATE, r"when|(?:what|which|in what|in which) (?:year|date|day|month|century)|how old"),
    (
        EntityKind.PLACE,
        r"where|(?:in |at |from |of |on )?(?:what|which) (?:city|country|county|place|state|town|village"
        r"|continent|region|province|district|nation|location)",
    ),
)
_BODIES = re.compile(
    r"\b(?:University|College|School|Inc|Ltd|Corporation|Company|Association|Party|Band|Records|Council"
    r"|Committee|Institute|Society|Union|League|Club|Museum)\b"
)
_YEAR = re.compile(r"[12]\d{3}")
_MONTHS = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
DATE = re.compile(rf"\b(?:\d{{1,2}} )?{_MONTHS}(?: \d{{1,2}},)?(?: [12]\d{{3}})?\b|\b[12]\d{{3}}\b")
"""Dates as texts write them: `4 August 1843`, `August 4, 1843`, `August`, `1843`."""
_PERSON_BEFORE = re.compile(
    r"\b(?:by|son of|daughter of|wife|husband|married|mother|father|brother|sister|Mr|Mrs|King|Queen"
    r"|Sir|Dr|Prince|Princess|actor|actress|singer|director|author|writer|president)\.?,?\s+$",
    re.IGNORECASE,
)
_PLACE_BEFORE = re.compile(
    r"\b(?:located|born|lives?|lived|based|died|headquartered|situated|village|town|city)\s+(?:in|at|near|of)"
    r"\s+$|\bnear\s+$",
    re.IGNORECASE,
)
_LEADS = (
    (
        EntityKind.PERSON,
        r"\((?:[^()]*\b)?(?:born\b|\d{3,4}\s*[–-]\s*\d{3,4})|\b(?:is|was) an? (?:[\w-]+ ){0,4}(?:actor"
        r"|actress|singer|writer|author|director|politician|player|musician|poet|painter|footballer|composer"
        r"|king|queen)\b",
    ),
    (
        EntityKind.PLACE,
        r"\b(?:is|was) an? (?:[\w-]+ ){0,4}(?:city|town|village|county|municipality|country|state|island"
        r"|river|province|district|region|commune|mountain|lake)\b",
    ),
    (
        EntityKind.WORK,
        r"\b(?:is|was) an? (?:[\w-]+ ){0,6}(?:film|movie|song|album|novel|book|series|single"
        r"|play|opera|game)\b",
    ),
    (
        EntityKind.ORGANISATION,
        r"\b(?:is|was) an? (?:[\w-]+ ){0,4}(?:company|band|organi[sz]ation|university|party|label|club)\b",
    ),
)


def expected_kind(question: str) -> EntityKind | None:
    """Return the kind of answer: who person, when date, where place; None where any new thing may be it."""
    for kind, words in _ASKED:
        if re.match(rf"(?:{words})\b", question.strip(), re.IGNORECASE):
            return kind
    for kind, words in _ASKED[1:]:
        if re.search(rf"\b(?:{words})\b[^,?]*\?*$", question, re.IGNORECASE):
            return kind
    return None


def kind_of_title(lead: str) -> EntityKind:
    """Guess from the sentence that opens a document what it is about."""
    found = [(match.start(), kind) for kind, words in _LEADS if (match := re.search(words, lead))]
    return min(found)[1] if found else EntityKind.THING


def kind_of_span(name: str, before: str) -> EntityKind:
    """Guess from a name, and from the words *before* it, what it may be."""
    if _YEAR.fullmatch(name) or DATE.fullmatch(name):
        return EntityKind.DATE
    if _BODIES.search(name):
        return EntityKind.ORGANISATION
    if _PERSON_BEFORE.search(before) and " " in name:
        return EntityKind.PERSON
    return EntityKind.PLACE if _PLACE_BEFORE.search(before) else EntityKind.THING
