"""How words are cut and stemmed: as in the language that most chunks are in.

The search index of a column has one language, and a question is cut as the column was.
"""

from collections.abc import Mapping
from typing import Final

from lancedb.index import FTS

PROSE: Final = ("text", "heading", "anchors")

ENGLISH: Final = "en"
"""Taken of chunks that do not say their language: it is what the default encoder knows."""

_STEMMED: Final[Mapping[str, str]] = {
    "ar": "Arabic", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "fi": "Finnish", "fr": "French", "hu": "Hungarian", "it": "Italian", "nl": "Dutch", "no": "Norwegian",
    "nb": "Norwegian", "nn": "Norwegian", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sv": "Swedish", "ta": "Tamil", "tr": "Turkish",
}  # fmt: skip
"""Languages with a stemmer (LanceDB 0.40, `FTS.language`), by ISO 639-1."""

_UNSPACED: Final = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Written without spaces between words, which the dictionaries of ICU4X find (UAX #29, section 4)."""


def main_language(counts: Mapping[str | None, int]) -> str:
    """Return the language of most chunks, from their numbers by BCP 47 tag; English before others.

    >>> main_language({"de-CH": 4, "de": 3, None: 5})
    'de'
    """
    total: dict[str, int] = {}
    for tag, number in counts.items():
        language = (tag or ENGLISH).replace("_", "-").partition("-")[0].lower()
        total[language] = total.get(language, 0) + number
    return min(total, key=lambda one: (-total[one], one != ENGLISH, one), default=ENGLISH)


def full_text_of(language: str) -> FTS:
    """Return how a column in *language* is searched.

    Stop words stay: "who", "when" and "not" tell questions about documentation apart.
    """
    if language in _UNSPACED:
        return FTS(base_tokenizer="icu", stem=False, remove_stop_words=False)
    if language not in _STEMMED:
        return FTS(stem=False, remove_stop_words=False)
    return FTS(stem=True, remove_stop_words=False, language=_STEMMED[language])
