"""Which language a text is in."""

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from py3langid.langid import LanguageIdentifier

LEAST_LETTERS = 200
SURE = 0.99
"""Of 105 PDFs with so many letters 93 got a language: the one they are in, and Latin for
nine of placeholder text (py3langid 0.4).
"""
_MOST = 6_000
_NO_LANGUAGE = "zxx"


def detect_language(lines: "Iterable[str]") -> str | None:
    """Return the language that the beginning of a text is in (ISO 639), None where that is not sure."""
    text = " ".join(islice(lines, _MOST // 10))[:_MOST]
    if sum(map(str.isalpha, text)) < LEAST_LETTERS:
        return None
    found, confidence = _identifier().classify(text)
    return str(found) if confidence >= SURE and found != _NO_LANGUAGE else None


def choose_language(stated: str | None, detected: str | None) -> str | None:
    """Return what a document states, unless its text is surely in another: many state what was preset."""
    if detected is None or (stated or "").replace("_", "-").partition("-")[0].lower() == detected:
        return stated
    return detected


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid import langid

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
