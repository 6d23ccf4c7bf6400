"""Lines that begin as the captions of tables do, and lines that say in what a table counts."""

import re

_WORDS = "Table|Tables|Tabelle|Tableau|Tabla|Tabela|Tabella|Tabell|Tabel"
_TABLE = re.compile(
    rf"\s*(?:{_WORDS}|{_WORDS.upper()}|Tab\.)\s+"
    r"(?:[A-Z]{1,2}[-.]?)?(?:\d+|[IVX]+)(?:[-.][\dA-Z]+)*[a-z]?"
    r"(?:\s*[:.|\u2013\u2014-]|\s*$|\s+[A-Z(\u00c0-\u00dd])"
)
"""The word, a number as "3", "A-1", "2.4b" or "IV", and then a sign, nothing, or the capital of a title."""

_SCALES = (
    r"%|per\s?cent|percentages?|thousands?|millions?|billions?|trillions?|euros?|eur|usd|gbp|dollars?|pounds?|"
    r"tonnes?|kilograms?|kg|litres?|hectares?|km|prozent|tausend|mio\.?|mrd\.?|millionen|milliarden|milliers|"
    r"milliards?"
)
_COUNTS = r"numbers?|shares?|hours?|days?|years?|persons?|tons?|metres?"
_UNIT = re.compile(
    r"\s*(?:\(?(?:units?|einheit|unité)\s*[:=]"
    rf"|\(?(?:in\s+|en\s+|[€$£¥]\s*)?(?:{_SCALES})(?!\w)"
    rf"|\(?in\s+(?:{_COUNTS})(?!\w)|\((?:{_COUNTS})\)$)",
    re.IGNORECASE,
)
"""A scale says it alone; a word such as "years" does in parentheses or after "in", or it may name columns."""

_MOST_SIGNS, _MOST_WORDS = 60, 5
"""Characters of a unit, and words of one that no bracket or "in" begins: "Thousands of users rely on this" is
a sentence."""


def is_unit(text: str) -> bool:
    """Whether a line says what the figures of a table are: "(in thousands)", "EUR million", "Unit: kg"."""
    said = text.strip()
    if not said.lower().startswith(("(", "in ", "en ", "unit")) and len(said.split()) > _MOST_WORDS:
        return False
    return len(said) <= _MOST_SIGNS and not said.endswith((".", ":")) and _UNIT.match(said) is not None


def is_table_caption(text: str) -> bool:
    """Whether a line begins as "Table 3:", "Table 3 Prices" or "Table A-1" do, and not as a sentence does."""
    return _TABLE.match(text) is not None
