"""A question asked of names that were read: of what a passage names, in the place of its title."""

import re

from retrieval.graph.second_query import proper_spans, split_sentences
from retrieval.question.words import fold

PROSE_MIN = 3
"""Words in lower case that a sentence has: a row of a table and a list of labels have names of columns."""

_ROW = re.compile(r"\s\|\s|\t|^\|")
_LOWER = re.compile(r"(?<![\w-])[a-z][\w'’-]*")


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
    """Return *question* of *names* in the place of *title*; where it does not name the title, of them too.

    >>> ask_of("When did the mother of Lothair II die?", "Lothair II", ["Ermengarde of Tours", "Hugh"])
    'When did the mother of Ermengarde of Tours or Hugh die?'
    >>> ask_of("How long are records kept?", "Retention", ["Platform Group"])
    'How long are records kept, and what of Platform Group?'
    """
    asked = question.strip().rstrip("?").rstrip()
    either = " or ".join(names)
    words = r"\W+".join(map(re.escape, re.findall(r"\w+", title)))
    place = re.search(rf"(?<!\w){words}(?!\w)", asked, re.IGNORECASE) if words else None
    if place is None:
        return f"{asked}, and what of {either}?"
    return f"{asked[: place.start()]}{either}{asked[place.end() :]}?"
