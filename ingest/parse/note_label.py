"""Where the first text of a note says what the note is."""

import re

_BEGINNING = 20
_MARK = re.compile(r"\[!\w{3,12}\]")


def title_length(text: str, kind: str, *, is_title: bool) -> int:
    """Return how many code points of the first text of a note say what it is; 0 where they do not.

    That is a whole title line, the word of the note's *kind* at the beginning (`Warning: ...`), or the mark
    that GitHub reads (`[!WARNING]`).
    """
    if is_title:
        return len(text)
    found = _MARK.match(text) or (_begins_with(kind).match(text) if kind else None)
    return found.end() if found else 0


def _begins_with(kind: str) -> re.Pattern[str]:
    return re.compile(rf".{{0,{_BEGINNING}}}?\b{re.escape(kind)}\b[:.]?", re.IGNORECASE)
