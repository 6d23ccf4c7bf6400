"""Acronyms that a text explains in brackets: "Write-Ahead Log (WAL)".

Source: Schwartz and Hearst, PSB 2003, with initials alone: each letter must begin a word.
"""

import re
from collections.abc import Iterable, Mapping

_EXPLAINED = re.compile(r"\b([A-Z][A-Za-z0-9]{1,7})\)")
_WORD = re.compile(r"[A-Za-z0-9]+")
_SMALL = frozenset({"a", "and", "for", "in", "of", "on", "or", "the", "to"})


def read_acronyms(texts: Iterable[str]) -> Mapping[str, str]:
    """Return what acronyms mean by the words before them; the first explanation of each counts."""
    found: dict[str, str] = {}
    for text in texts:
        for match in _EXPLAINED.finditer(text):
            before = text[: match.start()]
            if before.endswith("(") and (long := _spelled_by(match[1], before[:-1])):
                found.setdefault(match[1], long)
    return found


def _spelled_by(acronym: str, before: str) -> str | None:
    """Return the end of *before* whose words begin with the letters of *acronym*, small words aside."""
    sentence = re.split(r"[.;:()\n]", before)[-1]
    words = list(_WORD.finditer(sentence))
    letters = list(acronym.casefold())
    for index in range(len(words) - 1, -1, -1):
        word = words[index][0].casefold()
        if letters and word[0] == letters[-1]:
            letters.pop()
            if not letters:
                return sentence[words[index].start() :].strip()
        elif word not in _SMALL:
            return None
    return None
