"""Limits: whether a sentence says at least where a passage says at most."""

import re

from retrieval.verify.facts import read_facts
from retrieval.verify.quantities import Quantity

_LOWER = re.compile(
    r"(?:at\s+least|(?:not?|never)\s+(?:\w+\s+){0,2}(?:less|fewer|lower|earlier|shorter)\s+than|minimum(?:\s+of)?|not\s+fall\s+below)"
    r"(?:\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
_UPPER = re.compile(
    r"(?:at\s+most|up\s+to|(?:not?|never)\s+(?:\w+\s+){0,2}(?:more|longer|higher|later|faster|larger|greater|older)\s+than|"
    r"maximum(?:\s+of)?|limited\s+to|not\s+exceed)(?:\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
_LOWER_AFTER = re.compile(
    r"\s*(?:\w+\s+)?(?:or\s+more|or\s+longer|at\s+least|at\s+the\s+earliest)\b", re.IGNORECASE
)
_UPPER_AFTER = re.compile(
    r"\s*(?:\w+\s+)?(?:or\s+less|or\s+fewer|at\s+(?:the\s+)?most|at\s+the\s+latest)\b", re.IGNORECASE
)


def opposite_bounds(sentence: str, passage: str) -> str | None:
    """Give the number that is a lower limit in one text and an upper limit in the other, or None."""
    limits = [(one, _bound(passage, one)) for one in read_facts(passage).quantities]
    for said in read_facts(sentence).quantities:
        bound = _bound(sentence, said)
        stated = {other for one, other in limits if said.equals(one)}
        if bound and stated == {-bound}:
            return said.text
    return None


def _bound(text: str, one: Quantity) -> int:
    """Give -1 for an upper limit, 1 for a lower one, 0 for none."""
    before, after = text[: one.start], text[one.end :]
    if _LOWER.search(before) or _LOWER_AFTER.match(after):
        return 1
    return -1 if _UPPER.search(before) or _UPPER_AFTER.match(after) else 0
