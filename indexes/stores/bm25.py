"""BM25 over a handful of texts in memory, scored as the LanceDB index scores them, without stemming."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

_K1, _B = 1.2, 0.75
"""Robertson and Zaragoza 2009, section 3.4; the values that Lucene and LanceDB use."""

_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Cut prose into lower-case words without accents; `_` and punctuation separate."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return _WORD.findall(plain.lower())


def exact_terms(text: str) -> list[str]:
    """Cut codes at white space only, so that `max_wal_size` stays one term."""
    return text.lower().split()


def bm25(query: list[str], documents: Mapping[str, list[str]]) -> dict[str, float]:
    """Score the documents that contain a term of the query, by id; all documents count for rarity."""
    counted = {key: Counter(terms) for key, terms in documents.items()}
    mean = sum(map(len, documents.values())) / max(len(documents), 1)
    scores: dict[str, float] = {}
    for term in dict.fromkeys(query):
        holding = [key for key, counts in counted.items() if term in counts]
        rarity = math.log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for key in holding:
            often = counted[key][term]
            length = 1 - _B + _B * len(documents[key]) / mean
            scores[key] = scores.get(key, 0.0) + rarity * often * (_K1 + 1) / (often + _K1 * length)
    return scores
