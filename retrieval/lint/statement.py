"""A sentence as words in order, with what tells the answer, numbers, denials and switches, apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from retrieval.verify.clauses import is_empty, stem
from retrieval.verify.dates import Date, find_dates
from retrieval.verify.lexicon import EXCLUSIVE, NEGATORS, OPPOSITES, UNIT_WORDS
from retrieval.verify.quantities import Quantity, find_quantities


class TermKind(StrEnum):
    """What a word of a statement is."""

    WORD = "word"
    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    NOT = "not"
    SIDE = "side"


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a statement. Words that only the answer tells apart have one `frame`, and a `value` each."""

    kind: TermKind
    frame: str
    value: str
    amount: Quantity | Date | None = None


_TOKEN = re.compile(r"[\w$<\[-][\w.+#@=/<>:$*-]*\w[>*]?|\w")
_NAME = re.compile(r"\w[-_.+/:=]\w|[a-z]\d|\d[a-z]|[a-z][A-Z]|^[-$<\[]|^[A-Z][A-Z0-9]+$")
_SWITCHES = (("on", "off"), ("yes", "no"), ("true", "false"), ("enabled", "disabled"), ("enable", "disable"))
_NUMBERED = re.compile(
    r"(?:section|chapter|step|figure|table|page|version|release|appendix|note|rfc|iso|line|level|phase|case)s?"
    r"\W*$",
    re.IGNORECASE,
)
"""Before a number that names something and measures nothing."""
_SPELT = re.compile(r"\b(can)not\b|(?<=\w)n['’]t\b", re.IGNORECASE)


def terms_of(text: str) -> tuple[Term, ...]:
    """Return the telling words of a sentence in order.

    >>> [one.kind.value for one in terms_of("The server does not wait 30 seconds.")]
    ['word', 'not', 'word', 'number']
    """
    plain = _SPELT.sub(lambda match: f"{match[1] or ''} not", text.replace("can't", "can not"))
    found: tuple[Quantity | Date, ...] = (*find_quantities(plain), *find_dates(plain))
    amounts = {one.start: one for one in found if _measures(plain, one)}
    return tuple(_terms(plain, dict(sorted(amounts.items()))))


def _measures(text: str, amount: Quantity | Date) -> bool:
    return isinstance(amount, Date) or not _NUMBERED.search(text[: amount.start])


def _terms(text: str, amounts: dict[int, Quantity | Date]) -> Iterator[Term]:
    at = 0
    for start, amount in amounts.items():
        if start < at:
            continue
        yield from _words(text[at:start])
        kind = TermKind.DATE if isinstance(amount, Date) else TermKind.NUMBER
        yield Term(kind, "#", amount.text.casefold(), amount)
        at = amount.end
    yield from _words(text[at:])


def _words(text: str) -> Iterator[Term]:
    for match in _TOKEN.finditer(text):
        word = match[0].strip(".:")
        folded = word.casefold()
        side = _sides().get(folded) or _sides().get(stem(folded))
        if folded in NEGATORS:
            yield Term(TermKind.NOT, "", "not")
        elif side is not None:
            yield Term(TermKind.SIDE, side, stem(folded))
        elif _NAME.search(word):
            yield Term(TermKind.NAME, word, word)
        elif not is_empty(folded):
            yield Term(TermKind.WORD, stem(folded), stem(folded))


@cache
def _sides() -> dict[str, str]:
    """Return for words of which one excludes the other the name of their group."""
    groups = (*OPPOSITES, *_SWITCHES, *map(sorted, (*EXCLUSIVE, *UNIT_WORDS)))
    found: dict[str, str] = {}
    for group in groups:
        for word in group:
            found.setdefault(stem(word), "/".join(group))
            found.setdefault(word, "/".join(group))
    return found


def frame_of(terms: tuple[Term, ...]) -> frozenset[str]:
    """Return what two statements of one thing share, whatever each says of it."""
    return frozenset(one.frame for one in terms if one.kind is not TermKind.NOT)
