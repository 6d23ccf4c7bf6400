"""The sentences of a question, each of which can be asked by itself."""

import re

from retrieval.question.words import STOP_WORDS, content_words

_END = re.compile(r"(?<=[.?!;:])\s+|(?<!\s)\s+[-\u2013\u2014]\s+")
WORDS_MIN = 2
"""Content words that a part must have, to be asked by itself."""
FIRST_MAX, LAST_MAX = 4, 4
"""Parts asked of a long question: it begins with what it is about and ends with what it asks. Each costs one
reading of every passage."""


def parts_of(question: str) -> tuple[str, ...]:
    """Return the question and, where it has several sentences, each of them that says something.

    A cross-encoder that learned on short questions reads past one that comes behind a story.

    >>> parts_of("The tests fail. How do I skip slow tests?")
    ('The tests fail. How do I skip slow tests?', 'The tests fail.', 'How do I skip slow tests?')
    >>> parts_of("How do I skip slow tests?")
    ('How do I skip slow tests?',)
    """
    parts = [part for one in _END.split(question) if _says_enough(part := one.strip())]
    asked = parts if len(parts) <= FIRST_MAX + LAST_MAX else [*parts[:FIRST_MAX], *parts[-LAST_MAX:]]
    return tuple(dict.fromkeys((question, *asked)))


def _says_enough(part: str) -> bool:
    return sum(word not in STOP_WORDS for word in content_words(part)) >= WORDS_MIN
