"""Text > words as an account compares them: alike however a parser writes signs, spaces and small figures."""

import codecs
import re
import unicodedata
from collections import Counter
from functools import lru_cache

UNSHOWN = frozenset(["script", "style", "template", "title", "iframe", "noframes", "noembed"])
"""Elements whose text browsers never show. Source: WHATWG HTML, 15.3.1 and 4.8.5."""

_RUN_ON = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp "
    "small span strike strong sub sup time tt u var"
)
RUN_ON = frozenset(_RUN_ON.split())
"""Elements within which a word may go on, since browsers lay them out in the line. Source: CSS 2.2, D."""

_SPACED = "".join(
    chr(code) if code > 127 else chr(code).lower() if chr(code).isalnum() or code == ord("_") else " "
    for code in range(256)
).encode("latin-1")
"""Bytes of UTF-8 in lower case, with a space for each ASCII sign that is in no word."""

_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_NO_WORD = re.compile(r"[^\x00-\x7f\w]")
_FOLD = "sitegraph.fold"


def fold_words(text: str) -> str:
    """Return the words of a text in lower case, with single spaces between them.

    Signs without width are in no word, and what Unicode calls compatible is equal: `10\u2076` is `106`.
    """
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    # An encoder hands over what is not ASCII, of which there is little, many times faster than a search.
    spaced = text.encode("ascii", _FOLD).translate(_SPACED)
    return b" ".join(spaced.split()).decode("utf-8", "surrogatepass")


def count_folded(folded: str) -> int:
    """Count the words of what `fold_words` gave."""
    return folded.count(" ") + 1 if folded else 0


def rest_of(text: str, part: str) -> str:
    """Return the words of a text that are not in a part of it, in any order."""
    words = Counter(fold_words(text).split())
    return " ".join((words - Counter(fold_words(part).split())).elements())


def _fold_beyond(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    return _folded(error.object[error.start : error.end]), error.end


@lru_cache(maxsize=1024)
def _folded(written: str) -> bytes:
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", written)).casefold()
    return _NO_WORD.sub(" ", folded).encode("utf-8", "surrogatepass")


codecs.register_error(_FOLD, _fold_beyond)
