"""What kind of question it is: pure functions of its text and of what the catalogue knows."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Route(StrEnum):
    """Kind of question; it decides how much each searched field weighs."""

    ID = "id"
    NAVIGATION = "navigation"
    RELATIONSHIP = "relationship"
    PDF = "pdf-ish"
    PLAIN = "plain"


CODE_TOKENS_MAX = 8

_DOCUMENT_ID = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b(?:-\w+)*")
_CODE_PREFIX = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}")
# Names are looked for where a word begins: one of 10,000 letters would else be gone through from each.
_CODE = re.compile(
    r"""(?<!\S)--?[a-z][\w-]*            # --flag, -f
      | (?<![\w./-])/[\w.-]+(?:/[\w.-]+)+  # /etc/fstab
      | (?<!\w)\w+(?:\.\w+)+             # dotted.name
      | (?<!\w)\w+(?:_\w+)+              # snake_name
      | \b[A-Z][A-Z0-9_]{3,}\b           # CONSTANT
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[\w'’-]+")
_GO_TO = re.compile(r"(where (is|do i find)|which page|find|open|go to|take me to|link to)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(page|section|chapter|docs|changelog|downloads?)\W*$", re.IGNORECASE)
_PDF = re.compile(
    r"\b(pages?|pp?\.)\s*\d+|\b(figure|fig\.|appendix|exhibit|slide)(?!\w)|\btable\s+[A-Z]?\d"
    r"|\.pdf\b|\b(pdf|whitepaper|datasheet|10-?k|annual report)\b",
    re.IGNORECASE,
)
_PLACE_WORDS_MAX = 6

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been but by can could did do does for from had has have how i if in into is
        it its many me much my of on or our shall should so than that the their them then there these they
        this those to was we were what when where which who whom whose why will with would you your""",
    )
)
"""English words that carry no topic; anchors and headings are compared without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the catalogue found of a query.

    `holders` are the chunks that hold each known code or id, exactly as written; `documents` the nodes
    that the query names by their own id; `is_name` says that all of it is a title, heading or link text.
    """

    holders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    documents: tuple[str, ...] = ()
    is_name: bool = False


def route_of(text: str, known: Known) -> Route:
    """Give the first route that matches: id, navigation, pdf-ish, plain.

    An id or a code counts only if the catalogue has it, so that "UTF-8" stays a word.
    """
    if known.documents or known.holders:
        return Route.ID
    if known.is_name or _GO_TO.match(text) or _names_a_place(text):
        return Route.NAVIGATION
    return Route.PDF if _PDF.search(text) else Route.PLAIN


def _names_a_place(text: str) -> bool:
    return bool(_PLACE.search(text)) and len(content_words(text)) <= _PLACE_WORDS_MAX


def id_tokens(text: str) -> tuple[str, ...]:
    """What may be a document's own id: `GOV-0017`, `PRD-0008-some-title`, `backup-guide`.

    A plain word without digit, dash or underscore never is, or every question would name documents.
    """
    words = [word.strip("'’") for word in _WORD.findall(text)]
    return _distinct(word for word in words if re.search(r"\w[-_]\w|[A-Za-z]\d|\d[A-Za-z]", word))


def code_prefix(doc_id: str) -> str | None:
    """Give `PRD-0008` for `PRD-0008-some-title`, or None."""
    match = _CODE_PREFIX.match(doc_id)
    return match[0] if match and doc_id[match.end() : match.end() + 1] in {"", "-"} else None


def code_tokens(text: str) -> tuple[str, ...]:
    """Ids, flags, paths, dotted and snake names and constants of *text*, in order of appearance.

    Bare numbers and versions (`3.1`) are left out: they qualify a question and do not name its subject.
    """
    found = [(match.start(), match[0]) for regex in (_DOCUMENT_ID, _CODE) for match in regex.finditer(text)]
    tokens = [token for _, token in sorted(found) if re.search(r"[^\W\d_]", token)]
    return _distinct(tokens)[:CODE_TOKENS_MAX]


def content_words(text: str) -> tuple[str, ...]:
    """Folded words of *text* without stop words, in order; the whole text's words if all are stop words."""
    words = tuple(word.casefold() for word in re.findall(r"\w+", text))
    return tuple(word for word in words if word not in STOP_WORDS) or words


def fold(text: str) -> str:
    """Fold case, punctuation and white space, to compare names."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _distinct(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tokens))
