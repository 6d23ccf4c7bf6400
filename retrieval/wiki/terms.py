"""What a question is about: noun phrases and keywords, in lower case, without stop words."""

import re
from dataclasses import dataclass

from retrieval.question.words import STOP_WORDS, content_words

PHRASE_WORDS_MAX = 5

_TOKEN = re.compile(r"--?[a-z][\w-]*(?<!-)|\w+(?:[-.'’/_:]+\w+)*|[^\w\s]", re.IGNORECASE)
_WORD = re.compile(r"-{0,2}\w")
_VERBS = frozenset(
    re.findall(
        r"\w+",
        """happen happens happened mean means explain describe tell show list name define give find work works
        cause causes caused need needs use uses used make makes made get gets go goes say says come comes
        take takes keep keeps relate relates related connect connects connected depend depends differ differs
        become becomes call calls called run runs set sets lead leads affect affects between about after
        before during when while without not no any all some other than also if then up out over under""",
    )
)
"""Words that stand between nouns and belong to no name; they are keywords all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """`phrases` are runs of at least two words; `keywords` single words, in order, each once."""

    phrases: tuple[str, ...]
    keywords: tuple[str, ...]


def parse_query(text: str) -> QueryTerms:
    """Read a question; a compound such as `max_wal_size`, `GOV-0017` or `write-ahead` is one word.

    A phrase is a run of words that no stop word, verb of a short list or punctuation breaks, five at most.
    Where a question is made of stop words alone, these are its keywords.

    >>> parse_query("Why does a memory leak cause the System Crash?").phrases
    ('memory leak', 'system crash')
    """
    runs: list[list[str]] = [[]]
    keywords: dict[str, None] = {}
    for token in (match[0].lower() for match in _TOKEN.finditer(text)):
        is_word = bool(_WORD.match(token)) and token not in STOP_WORDS
        if is_word:
            keywords[token] = None
        if is_word and token not in _VERBS:
            runs[-1].append(token)
        else:
            runs.append([])
    phrases = dict.fromkeys(" ".join(run[:PHRASE_WORDS_MAX]) for run in runs if len(run) > 1)
    return QueryTerms(
        phrases=tuple(phrases), keywords=tuple(keywords) or tuple(dict.fromkeys(content_words(text)))
    )
