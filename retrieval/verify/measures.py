"""What a question measures, and whether a text says such a measure."""

import re
from collections.abc import Collection

from retrieval.question.title_words import stems
from retrieval.verify.clauses import split_sentences
from retrieval.verify.quantities import find_quantities

_TIME = frozenset({"time", "calendar"})
_ANY = frozenset[str]()
_ASKED = (
    (r"how (?:long|soon)\b(?! is the (?:list|text|name|line))", _TIME | {"length"}),
    (r"how often\b|how frequently\b", frozenset({"rate"})),
    (r"how (?:many|much)\b", _ANY),
    (r"how (?:old|recent)\b", _TIME),
    (r"how (?:far|tall|high|wide|deep|thick)\b", frozenset({"length"})),
    (r"how (?:big|large|small|heavy|fast|hot|cold|loud|strong)\b", _ANY),
)
"""Questions by their first words, and what an answer measures; nothing stands for any number."""
_INSTEAD = {
    "time": r"\b(?:until|till|forever|indefinite(?:ly)?|permanent(?:ly)?|as long as"
    r"|for the (?:life|rest|duration)|immediate(?:ly)?|at once|(?:over|all) ?night)\b",
    "rate": r"\b(?:every|each|per|once|twice|times|always|never|whenever"
    r"|(?:half-?)?(?:hour|night|week|month|quarter|year)ly|daily|annual(?:ly)?)\b",
    "": r"\d|\b(?:unlimited|no limit|none|zero|one|both|any number|as (?:many|much) as|half|all)\b",
}
"""What answers without a number: until the server stops, nightly, as many as there are."""
_SAYS_NOTHING = stems(
    "long soon often frequently many much old recent far tall high wide deep thick big large"
)


def measure_asked(question: str) -> frozenset[str] | None:
    """Return what an answer to *question* measures, an empty set for any number, else None.

    >>> sorted(measure_asked("How long are backups kept?"))
    ['calendar', 'length', 'time']
    >>> measure_asked("How are backups kept?") is None
    True
    """
    asked = question.strip()
    return next((unit for words, unit in _ASKED if re.search(rf"\b(?:{words})", asked, re.IGNORECASE)), None)


def says_measure(question: str, texts: Collection[str]) -> bool:
    """Whether a sentence of *texts* says what *question* measures and shares a word with it.

    True of every question that measures nothing: who, where, which.
    """
    wanted = measure_asked(question)
    if wanted is None:
        return True
    about = stems(question) - _SAYS_NOTHING
    sentences = (one for text in texts for one in split_sentences(text))
    return any(_measures(one, wanted) for one in sentences if not about or about & stems(one))


def _measures(sentence: str, wanted: frozenset[str]) -> bool:
    words = [_INSTEAD[one] for one in (wanted or {""}) if one in _INSTEAD]
    if any(re.search(one, sentence, re.IGNORECASE) for one in words):
        return True
    found = find_quantities(sentence)
    return any(not wanted or (one.unit is not None and one.unit.measures in wanted) for one in found)
