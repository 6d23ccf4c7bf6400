"""A question asked of names that were read: "Where was the author of X born?" becomes "Where was Y born?"."""

import re

from retrieval.graph.second_query import proper_spans, split_sentences
from retrieval.iterative.expected import DATE
from retrieval.question.words import fold

PROSE_MIN = 3
"""Words in lower case that a sentence has: a row of a table and a list of labels have names of columns."""

_ROW = re.compile(r"\s\|\s|\t|^\|")
_LOWER = re.compile(r"(?<![\w-])[a-z][\w'’-]*")
_NOUNS = r"(?:(?!of\b|by\b|for\b|in\b|from\b|the\b)[\w-]+\s+){1,3}"
_REFERS = rf"\b(?:the|an?)\s+{_NOUNS}(?:of|by|for|from)\s+(?:(?:the|an?)\s+)?(?:[a-z]+\s+){{0,2}}"
_OWNED = r"['’]s?\s+[a-z]+"


def prose_of(text: str) -> tuple[str, ...]:
    """Return the sentences of *text* that are sentences; rows of tables, labels and codes are left out."""
    lines = " \n".join(line for line in text.split("\n") if not _ROW.search(line))
    return tuple(one for one in split_sentences(lines) if len(_LOWER.findall(one)) >= PROSE_MIN)


def names_of(sentence: str, text: str, question: str) -> list[str]:
    """Return the names and years of *sentence* that *question* lacks, in order, once each.

    One capitalised word is no name where it only opens the sentence, or is written small elsewhere in *text*
    or in the question: a heading, a column, a word at the start of an item.
    """
    small = {word.casefold() for word in _LOWER.findall(f"{text} {question}")}
    return [
        name
        for name in proper_spans(sentence)
        if fold(name) not in fold(question) and not _is_word(name, sentence, small)
    ]


def _is_word(name: str, sentence: str, small: set[str]) -> bool:
    if " " in name or not name.isalpha() or name.isupper():
        return False
    return name.casefold() in small or (sentence.startswith(name) and sentence.count(name) == 1)


def ask_of(question: str, title: str, names: list[str]) -> str:
    """Return *question* of *names*, in the place of what it asks of *title*; years are asked beside it.

    >>> ask_of("Where was the author of Silver Harbour born?", "Silver Harbour", ["Ada Quill", "1931"])
    'Where was Ada Quill born, and what of 1931?'
    >>> ask_of("When did Lothair II's mother die?", "Lothair II", ["Ermengarde of Tours", "Hugh"])
    'When did Ermengarde of Tours or Hugh die?'
    >>> ask_of("How long are records kept?", "Retention", ["Platform Group"])
    'How long are records kept, and what of Platform Group?'
    """
    asked = question.strip().rstrip("?").rstrip()
    place = _refers_to(title, asked)
    inside = [name for name in names if place and not DATE.fullmatch(name)]
    beside = [name for name in names if name not in inside]
    if place and inside:
        asked = f"{asked[: place.start()]}{' or '.join(inside)}{asked[place.end() :]}"
    return f"{asked}, and what of {' or '.join(beside)}?" if beside else f"{asked}?"


def _refers_to(title: str, question: str) -> re.Match[str] | None:
    """Return where *question* speaks of something of *title*: the author of X, X's mother."""
    words = r"\W+".join(map(re.escape, re.findall(r"\w+", title)))
    if not words:
        return None
    name = rf"(?<!\w){words}(?!\w)"
    return re.search(rf"{_REFERS}{name}|{name}{_OWNED}", question, re.IGNORECASE)
