"""Lines that begin as the captions of tables do."""

import re

_WORDS = "Table|Tables|Tabelle|Tableau|Tabla|Tabela|Tabella|Tabell|Tabel"
_TABLE = re.compile(
    rf"\s*(?:{_WORDS}|{_WORDS.upper()}|Tab\.)\s+"
    r"(?:[A-Z]{1,2}[-.]?)?(?:\d+|[IVX]+)(?:[-.][\dA-Z]+)*[a-z]?"
    r"(?:\s*[:.|\u2013\u2014-]|\s*$|\s+[A-Z(\u00c0-\u00dd])"
)
"""The word, a number as "3", "A-1", "2.4b" or "IV", and then a sign, nothing, or the capital of a title."""


def is_table_caption(text: str) -> bool:
    """Whether a line begins as "Table 3:", "Table 3 Prices" or "Table A-1" do, and not as a sentence does."""
    return _TABLE.match(text) is not None
