"""Sentences of a passage that state something: no code, no rows of tables, no lists of words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.verify.clauses import is_empty, split_sentences, words_of
from schemas.nodes import Chunk, PageKind

LEAST_WORDS = 5
"""Words of a sentence; what is shorter is a label."""
JOINING = 0.15
"""Least share of words that join others: lists of names and commands have hardly any."""

_CODE = re.compile(
    r"[|{}\\]|^\s*(?:[$#%>+*]|--|\.\.|//|/\*|\d+:)|^\s*[-+*]\s|(?:^|\s)(?:=>|->|==|:=|&&|\+\+)(?:\s|$)|;\s*$|\w\(\w*\);"
)
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"^(?:\[\d+\]|\(\d+\)|\d+[.)])\s+")
"""Of a footnote or an item."""


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """A sentence and the passage it stands in."""

    text: str
    chunk: Chunk


def sentences(chunk: Chunk) -> Iterator[ProseSentence]:
    """Yield the sentences of a passage of content, white space folded.

    A line that a capital or a word does not begin, or that no full stop ends, may be code or a title.
    """
    if chunk.page_kind is not PageKind.CONTENT or chunk.stale:
        return
    for block in re.split(r"\n\s*\n", chunk.text):
        for part in split_sentences(block):
            text = _NUMBER.sub("", _SPACE.sub(" ", part).strip())
            if _states(text):
                yield ProseSentence(text, chunk)


def _states(text: str) -> bool:
    if not text.endswith((".", "!", ".)", '."', ".”")) or _CODE.search(text):
        return False
    words = words_of(text)
    if len(words) < LEAST_WORDS:
        return False
    return sum(is_empty(word) for word in words) >= JOINING * len(words)
