"""Words of questions and pages, made comparable: a page on leases answers a question on a lease."""

import re
from functools import lru_cache

from retrieval.question import title_words
from retrieval.question.words import content_words

_DOUBLED = re.compile(r"(?<=\w\w)([bdfglmnprt])\1$")


def stems(text: str) -> frozenset[str]:
    """Return the words of *text* without stop words, folded: lease and leases, policy and policies are one.

    Headings get by with less folding; here a word that does not match sends a question past its page.

    >>> sorted(stems("policies stopped leases")) == sorted(stems("a policy stops a lease"))
    True
    """
    return frozenset(stem_line(text))


def stem_line(text: str) -> tuple[str, ...]:
    """Return the same in the order of the text, each as often as it stands there.

    >>> stem_line("the father of the director") == stem_line("the director of the father")
    False
    """
    return tuple(map(_stem, content_words(text)))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    (stem,) = title_words.stems(word)
    bare = _DOUBLED.sub(r"\1", stem)
    if len(bare) > 3 and bare.endswith("e"):
        return bare[:-1]
    return f"{bare[:-1]}i" if len(bare) > 3 and bare.endswith("y") else bare
