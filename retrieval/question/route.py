"""What kind of question it is: pure functions of its text and of what the catalogue knows."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from retrieval.question.relationship import asks_for_relations
from retrieval.question.words import STOP_WORDS, content_words


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
_LOOKS_UP = STOP_WORDS | {
    "open",
    "find",
    "show",
    "go",
    "take",
    "explain",
    "define",
    "describe",
    "mean",
    "means",
}
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
