"""Words, names and codes of a text, as questions and headings are compared by them."""

import re
from collections.abc import Iterable

from schemas.formulas import find_formulas

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
_AROUND = "\"'’‘“”.,;:!?()[]"

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been but by can could did do does for from had has have how i if in into is
        it its many me much my of on or our shall should so than that the their them then there these they
        this those to was we were what when where which who whom whose why will with would you your""",
    )
)
"""English words that carry no topic; anchors and headings are compared without them."""


def id_tokens(text: str) -> tuple[str, ...]:
    """What may be a document's own id: `GOV-0017`, `PRD-0008-some-title`, `backup-guide`.

    A plain word without digit, dash or underscore never is, or every question would name documents.
    """
    words = [word.strip("'’") for word in _WORD.findall(text)]
    return _distinct(word for word in words if re.search(r"\w[-_]\w|[A-Za-z]\d|\d[A-Za-z]", word))


def code_prefix(doc_id: str) -> str | None:
    """Return `PRD-0008` for `PRD-0008-some-title`, or None."""
    match = _CODE_PREFIX.match(doc_id)
    return match[0] if match and doc_id[match.end() : match.end() + 1] in {"", "-"} else None


def code_tokens(text: str) -> tuple[str, ...]:
    """Formulas of *text*, then its ids, flags, paths, dotted and snake names and constants, each in order.

    Bare numbers and versions (`3.1`) are left out: they qualify a question and do not name its subject.
    """
    found = [(match.start(), match[0]) for regex in (_DOCUMENT_ID, _CODE) for match in regex.finditer(text)]
    tokens = [token for _, token in sorted(found) if re.search(r"[^\W\d_]", token)]
    return _distinct((*find_formulas(text), *tokens))[:CODE_TOKENS_MAX]


def content_words(text: str) -> tuple[str, ...]:
    """Folded words of *text* without stop words, in order; the whole text's words if all are stop words."""
    words = tuple(word.casefold() for word in re.findall(r"\w+", text))
    return tuple(word for word in words if word not in STOP_WORDS) or words


def searched_words(text: str) -> str:
    """Return *text* without stop words, all else as written; all of it where nothing else is in it.

    A passage that has "how do I" in it says nothing by that (measured: bench/RESULTS.md). `IT` and `CAN` in
    capitals are names, unless all is in capitals.
    """
    bare = [(word, word.strip(_AROUND)) for word in text.split()]
    kept = [
        word
        for word, one in bare
        if one.casefold() not in STOP_WORDS or (len(one) > 1 and one.isupper() and not text.isupper())
    ]
    return " ".join(kept) or text


def fold(text: str) -> str:
    """Fold case, punctuation and white space, to compare names."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _distinct(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tokens))
