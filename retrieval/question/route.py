"""What kind of question it is: pure functions of its text and of what the catalogue knows."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from retrieval.question.words import (
    SECTION_WORDS,
    STOP_WORDS,
    code_tokens,
    content_words,
    fold,
    language_of,
)

ENTITIES_MAX = 3

_DEFINES = re.compile(r"\s*(define\b|(what|who)\s+(is|are|'s)\s+(an?\b|the\b)?)", re.IGNORECASE)
_JOINS = re.compile(r"\bbetween\b|\b(relate[sd]?|linked|connected)\s+to\b", re.IGNORECASE)
_STRONG = re.compile(
    r"\b(connect|depend|interfac|relat(e[sd]?|ing|ions?|ionships?)\b|between\b|supersed|inherit|affect|integrat"
    r"|link(s|ed)?\s+to\b|(?<!\bi )(?<!you )(?<!we )(?<!is )(?<!are )call(s|ed)?\b)",
    re.IGNORECASE,
)
_NAMED_PARTY = re.compile(
    r"\b(?:connect|depend|integrat|interfac|relat|link)\w*\s+(?:to|on|with)\s+the\s+\w", re.IGNORECASE
)
"""A thing that only a description names: "depends on the billing worker"."""
_WEAK = re.compile(r"\b(configure|use[sd]?|need|require)", re.IGNORECASE)
_WHEN = re.compile(r"\bwhen\b", re.IGNORECASE)
_SPAN = re.compile(r"(?<![\w-])[A-Z][\w-]*(?:\s+(?:[A-Z0-9][\w.-]*))*")
_QUESTION_WORDS = STOP_WORDS | {"is", "does", "did", "are", "was", "define", "which", "what", "who"}


_FILE = re.compile(
    r"[\w./-]*\.(?:py|pyi|md|rst|txt|html?|pdf|toml|ya?ml|json|cfg|ini|sh|js|css|[ch])", re.IGNORECASE
)
_IMPORT = re.compile(r"(?:from\s+[\w.]+\s+)?import\s", re.IGNORECASE)
_HEADS = frozenset(
    re.findall(
        r"\w+",
        """example examples usage option options note notes overview introduction contents index parameters
        arguments returns return raises summary details description reference references see also page
        section""",
    )
)
"""Words that stand over parts of any document, and name none."""


def is_entity_name(name: str) -> bool:
    """Whether *name* can be what something is called: no letter, number, import or file.

    Documents have all of these, and "Example", as titles, headings and link texts; in a question they are
    words.

    >>> [one for one in ("A", "from flask import Flask", "conf.py", "Outbox") if is_entity_name(one)]
    ['Outbox']
    """
    words = fold(name).split()
    if not any(len(word) > 1 and not word.isdigit() for word in words):
        return False
    if _FILE.fullmatch(name.strip()) or _IMPORT.match(name.strip()):
        return False
    return not all(word in STOP_WORDS or word in _HEADS for word in words)


def entities_of(text: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return at most 3 names in *text*: those of *known* first, then the longest, then by position.

    *known* are names of the catalogue. Else a name is a capitalised span, an acronym or a code; question
    words and a first word that is capitalised only for being first are none.
    """
    folded = f" {fold(text)} "
    listed = [name for name in sorted(set(known)) if is_entity_name(name) and f" {fold(name)} " in folded]
    spans = [_without_lead(match[0], match.start() == 0) for match in _SPAN.finditer(text)]
    spans = [span for span in spans if is_entity_name(span)]
    codes = [code for code in code_tokens(text) if is_entity_name(code)]
    found: dict[str, tuple[int, int, int]] = {}
    for rank, names in enumerate((listed, (*spans, *codes))):
        for name in names:
            found.setdefault(fold(name), (rank, -len(name), folded.find(f" {fold(name)} ")))
    written = {fold(name): name for name in (*codes, *spans, *listed)}
    ranked = sorted(found, key=lambda name: (found[name], name))
    kept = [
        name for name in ranked if not any(name != other and f" {name} " in f" {other} " for other in found)
    ]
    return tuple(written[name] for name in kept[:ENTITIES_MAX])


NAMED_LEAST = 0.1
"""A long question has a capital by chance: with any name R@10 is 75.9 on five manuals, with a tenth 77.2."""


_MARKED = re.compile(r"\w[A-Z\d_.]")
"""An acronym, a code, or a name with a capital inside."""


def names_things(text: str) -> bool:
    """Whether a tenth of a question's words or more are names, acronyms or codes.

    Then its words find what it is about. Else it is put in the asker's own words: sense says more, and words
    tell less apart (docs/decisions/0038-own-words.md). In German a capital is no sign of a name: all nouns
    have it.

    >>> names_things("Wie oft läutet die Glocke am Hafen?"), names_things("How often does Heliograph ring?")
    (False, True)
    """
    names = entities_of(text)
    if language_of(text) == "de":
        names = tuple(name for name in names if _MARKED.search(name))
    named = content_words(" ".join(names)) if names else ()
    return len(named) > 0 and len(named) >= NAMED_LEAST * len(content_words(text))


def _without_lead(span: str, first: bool) -> str:
    """Drop leading question words, and a lone first word that any sentence would capitalise."""
    words = span.split()
    while words and words[0].casefold() in _QUESTION_WORDS:
        words, first = words[1:], False
    merely_first = first and len(words) == 1 and not words[0].isupper()
    return "" if merely_first else " ".join(words)


def asks_for_relations(text: str, known: Collection[str] = ()) -> bool:
    """Decide by the words of *text* and the number of names in it; definitions and dates are none."""
    count = len(entities_of(text, known))
    if _DEFINES.match(text) and count < 2 and not _JOINS.search(text):
        # "What is related to X" asks for relations; "what is X" does not.
        return False
    if _STRONG.search(text):
        return count >= 1 or bool(_NAMED_PARTY.search(text))
    if _WEAK.search(text):
        return count >= 2
    return count >= 2 and not _WHEN.search(text)


class Route(StrEnum):
    """Kind of question; it decides how much each searched field weighs."""

    ID = "id"
    NAVIGATION = "navigation"
    RELATIONSHIP = "relationship"
    PDF = "pdf-ish"
    PLAIN = "plain"


_GO_TO = re.compile(r"(where (is|do i find)|which page|find|open|go to|take me to|link to)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(page|section|chapter|docs|changelog|downloads?)\W*$", re.IGNORECASE)
_PDF = re.compile(
    r"\b(pages?|pp?\.)\s*\d+|\b(figure|fig\.|appendix|exhibit|slide)(?!\w)|\btable\s+[A-Z]?\d"
    r"|\.pdf\b|\b(pdf|whitepaper|datasheet|10-?k|annual report)\b",
    re.IGNORECASE,
)
_PLACE_WORDS_MAX = 6
_HELD_MAX = 10
"""Chunks with a code that still stands for few things."""
_LOOKS_UP = STOP_WORDS.union(
    SECTION_WORDS,
    ("open", "find", "show", "go", "take", "explain", "define", "describe", "mean", "means", "say", "says"),
)
_DETAIL = re.compile(
    r"\b(examples?|samples?|snippets?|code|syntax|tables?|figures?|values|options|parameters|defaults?|limits?|steps)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the catalogue found of a query.

    `holders` are the chunks that contain each known code or id, exactly as written; `documents` the nodes
    that the query names by their own id, and `unbound` says of ids why they name none. `is_name` says that
    all of it is a title, heading or link text; `names` are those that it contains.
    """

    holders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    documents: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()
    is_name: bool = False
    names: tuple[str, ...] = ()

    @property
    def telling(self) -> Mapping[str, tuple[str, ...]]:
        """The codes that name a thing by themselves, no flag and in few passages, with their chunks."""
        return {
            code: held
            for code, held in self.holders.items()
            if not code.startswith("-") and len(held) <= _HELD_MAX
        }


def route_of(text: str, known: Known) -> Route:
    """Return the first route that matches: id, navigation, relationship, pdf-ish, plain.

    An id or a code counts only if the catalogue has it, so that "UTF-8" stays a word. Beside other words a
    code is searched for with them and takes nothing away from them, however rare it is.
    """
    if known.documents or (known.holders and _is_only(text, known.holders)):
        return Route.ID
    if known.is_name or _GO_TO.match(text) or _names_a_place(text):
        return Route.NAVIGATION
    if asks_for_relations(text, known.names):
        return Route.RELATIONSHIP
    return Route.PDF if _PDF.search(text) else Route.PLAIN


def _is_only(text: str, codes: Collection[str]) -> bool:
    """Whether nothing but *codes* and stop words stands in a question."""
    rest = text
    for code in sorted(codes, key=len, reverse=True):
        rest = rest.replace(code, " ")
    return _LOOKS_UP.issuperset(re.findall(r"\w+", rest.casefold()))


def wants_detail(text: str) -> bool:
    """Whether tables, code and figures of a section are asked for."""
    return bool(_DETAIL.search(text))


def _names_a_place(text: str) -> bool:
    return bool(_PLACE.search(text)) and len(content_words(text)) <= _PLACE_WORDS_MAX
