"""What of a text must be found in another: dates, numbers, identifiers, quotations."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from retrieval.verify.dates import Date, find_dates
from retrieval.verify.names import find_codes, find_quotes
from retrieval.verify.quantities import Quantity, find_quantities

_MARK = "\N{BULLET}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """What a text states, to compare as characters or values; `rest` is it without dates and amounts."""

    dates: tuple[Date, ...]
    quantities: tuple[Quantity, ...]
    codes: tuple[str, ...]
    quotes: tuple[str, ...]
    rest: str


@lru_cache(maxsize=1024)
def read_facts(text: str) -> TextFacts:
    """Find dates, numbers, identifiers and quotations; what is part of one is none of the others."""
    dates = find_dates(text)
    undated = _blank(text, [(one.start, one.end) for one in dates])
    codes = find_codes(undated)
    quantities = find_quantities(_blank(undated, _spans(undated, codes)))
    return TextFacts(
        dates=dates,
        quantities=quantities,
        codes=codes,
        quotes=find_quotes(text),
        rest=_blank(undated, [(one.start, one.end) for one in quantities if one.unit]),
    )


def _spans(text: str, codes: Iterable[str]) -> Iterator[tuple[int, int]]:
    for code in codes:
        yield from (match.span() for match in re.finditer(rf"(?<!\w){re.escape(code)}(?!\w)", text))


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Put marks in place of what stands at *spans*; offsets stay."""
    for start, end in spans:
        text = text[:start] + _MARK * (end - start) + text[end:]
    return text
