"""What kind of thing a question asks for, and what kind of thing a name is: by words alone."""

import re

from retrieval.iterative.facts import EntityKind

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
