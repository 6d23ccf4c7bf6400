"""The sentences of a question, each of which can be asked by itself."""

import re

from retrieval.question.words import STOP_WORDS, content_words

_END = re.compile(r"(?<=[.?!;:])\s+|\s+[-\u2013\u2014]\s+")
WORDS_MIN = 2
"""Content words that a part must have, to be asked by itself."""


def parts_of(question: str) -> tuple[str, ...]:
    """Return the question and, where it has several sentences, each of them that says something.

    A cross-encoder that learned on short questions reads past one that comes behind a story.

    >>> parts_of("The tests fail. How do I skip slow tests?")
    ('The tests fail. How do I skip slow tests?', 'The tests fail.', 'How do I skip slow tests?')
    >>> parts_of("How do I skip slow tests?")
    ('How do I skip slow tests?',)
    """
    parts = (one.strip() for one in _END.split(question))
    return tuple(dict.fromkeys((question, *(one for one in parts if _says_enough(one)))))


def _says_enough(part: str) -> bool:
    return sum(word not in STOP_WORDS for word in content_words(part)) >= WORDS_MIN
