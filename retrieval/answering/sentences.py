"""Sentences of a passage as they can be quoted: not cut behind "Dr." or the "J." of a name."""

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")
_SHORT = re.compile(
    r"(?:^|[\s(\"'“‘.])(?:[A-Z]|[A-Za-z]\.[A-Za-z]"
    r"|e\.g|i\.e|cf|vs|etc|al|approx|ca|c|b|d|no|nos|vol|fig|figs|eq|sec|ch|p|pp|ed|eds"
    r"|Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Jr|Sr|Inc|Ltd|Co|Corp|Bros)\.$",
    re.IGNORECASE,
)
"""How a text ends whose full stop ends an abbreviation; of "U.S. Army" nobody can tell, so it stays whole."""
_SHORT_MAX = 8
"""Length of the longest of them with what stands before it; a list of initials is not read again at each."""


def split_quotable(text: str) -> tuple[str, ...]:
    """Cut a passage at line ends and behind sentences; the parts are its own words, white space folded."""
    return tuple(part for line in text.split("\n") for part in _parts(" ".join(line.split())) if part)


def _parts(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        stop = match.start() + 1
        if not _SHORT.search(line, max(0, stop - _SHORT_MAX), stop):
            yield line[start : match.end()].strip()
            start = match.end()
    yield line[start:].strip()
