"""Words by their stems in the language of their chunk, in one column for several languages.

A word of a question stands for its stem in each of these languages: it finds a chunk whose own stemmer makes
the same of a word there.
"""

import re
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from importlib import import_module
from typing import Final
from unicodedata import category, normalize

ENGLISH: Final = "en"
"""Taken of chunks that do not say their language: it is what the default encoder knows."""

_STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Modules of snowballstemmer 3.1, by ISO 639-1."""

_LONGEST = 64
"""Signs of a word that may have a stem: some stemmers take time by the square of a length."""
_WORDS_KEPT = 65_536


def language_of_tag(tag: str | None) -> str:
    """Return the language of a BCP 47 tag, English of none.

    >>> language_of_tag("pt_BR"), language_of_tag(None)
    ('pt', 'en')
    """
    return (tag or ENGLISH).replace("_", "-").partition("-")[0].lower()


def stems_of(text: str, tag: str | None) -> str:
    """Return the stem of each word of *text*.

    >>> stems_of("Die Häuser der Pförtner", "de"), stems_of("Houses were sold.", None)
    ('die haus der pfortn', 'hous were sold')
    """
    return asked_stems(text, [language_of_tag(tag)])


def asked_stems(text: str, languages: Collection[str]) -> str:
    """Return the stems of each word of a question in any of *languages*, each once for each word.

    >>> asked_stems("Häuser renting", ["de", "en"])
    'haus häuser renting rent'
    """
    stemmers = [_stemmer(language) for language in sorted({*languages})]
    words = _word().findall(normalize("NFC", text))  # as texts are, and stemmers know letters
    return " ".join(stem for word in words for stem in dict.fromkeys(of(word) for of in stemmers))


@cache
def _word() -> re.Pattern[str]:
    """Letters and digits with their marks, which most scripts of India and Thai write vowels with.

    Texts and questions are cut by it alike, since ICU takes `a.b` and `a_b` for one word; it may cut further.
    """
    marks = "".join(sign for sign in map(chr, range(0x300, 0x1F000)) if category(sign).startswith("M"))
    return re.compile(rf"[^\W_]+(?:[{marks}]+[^\W_]*)*")


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    name = _STEMMERS.get(language)
    if name is None:
        return str.lower
    # Not by its factory, which takes PyStemmer where that is installed, of whatever version.
    stemmer = getattr(import_module(f"snowballstemmer.{name}_stemmer"), f"{name.title()}Stemmer")
    # A stemmer holds the word that it works on, so each has its own: readers ask in threads.
    kept = lru_cache(_WORDS_KEPT)(lambda word: str(stemmer().stemWord(word.lower())))
    return lambda word: kept(word) if len(word) <= _LONGEST else word.lower()
