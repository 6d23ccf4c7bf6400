"""Texts that hold a phrase, looked up in the index over words where that is cheaper than to read them all."""

import re
from collections.abc import Collection
from typing import Final

from lancedb.query import BooleanQuery, MatchQuery, Occur
from lancedb.table import Table

from indexes.stores.lance.filters import any_of
from indexes.stores.lance.scan import pages
from indexes.stores.lance.tables import store_errors

ROWS_READ_PER_LOOKUP: Final = 2_500
"""A lookup costs as much CPU time as to read the texts of so many rows (bench/RESULTS.md)."""
LOOKED_UP_AT_ONCE: Final = 20
"""Ten phrases in one question cost a quarter of ten questions (bench/RESULTS.md)."""
_LONGEST: Final = 40
"""Longer words are not in the index (LanceDB 0.40, `FTS.max_token_length`)."""
_WORDS: Final = re.compile(r"[0-9A-Za-z]+")


def is_looked_up(phrase: str) -> bool:
    """Whether the index over words finds every text in which the phrase stands outside of words.

    The index cuts texts where a character is neither letter nor digit, by Rust's tables; those of Python,
    which say where a word ends, differ for a few marks outside of ASCII. A phrase needs a word that is short
    enough to be there.
    """
    words = _WORDS.findall(phrase)
    return phrase.isascii() and any(len(word) <= _LONGEST for word in words)


def choose_lookups(phrases: Collection[str], table: Table) -> frozenset[str]:
    """Phrases to look up, those that can be; none where to read all texts once is cheaper."""
    looked_up = frozenset(filter(is_looked_up, phrases))
    cheaper = len(looked_up) * ROWS_READ_PER_LOOKUP < table.count_rows()
    return looked_up if cheaper and _has_words(table) else frozenset()


def _has_words(table: Table) -> bool:
    """Whether texts are cut into words between spaces and signs, and not by a dictionary."""
    details = (index.index_details or {} for index in table.list_indices() if index.columns == ["text"])
    return any(detail.get("base_tokenizer") == "simple" for detail in details)


def documents_with(table: Table, phrases: Collection[str]) -> set[str]:
    """Documents with a text that has all words of one of the phrases, and one of them as written."""
    found = set[str]()
    for page in pages(phrases, size=LOOKED_UP_AT_ONCE):
        several = [(Occur.SHOULD, MatchQuery(phrase, "text", operator="AND")) for phrase in page]
        with store_errors(table.name):
            query = table.search(BooleanQuery(several), query_type="fts")
            held = query.where(any_of("text", page), prefilter=False).select(["doc", "_score"])
            found.update(held.limit(table.count_rows()).to_arrow().column("doc").to_pylist())
    return found
