"""What came of many documents, in the one line that a log has for them."""

from collections import Counter
from collections.abc import Iterable

from schemas.documents import DocumentState, KnownDocument

TROUBLED = frozenset(
    {DocumentState.FAILED, DocumentState.MISSING, DocumentState.GONE, DocumentState.QUARANTINED}
)
"""States whose reasons are shown with them."""

TOLD_REASONS = 3


def summarise_states(documents: Iterable[KnownDocument]) -> str:
    """Count documents by state, and name the commonest reasons of those in trouble.

    `90 fetched, 8 not_modified, 2 failed (HTTP 500: 2)`; `nothing` where there are none.
    """
    found = list(documents)
    states = Counter(document.state for document in found)
    reasons = Counter(d.reason for d in found if d.state in TROUBLED and d.reason)
    text = ", ".join(f"{number} {state.value}" for state, number in states.most_common())
    why = "; ".join(f"{reason}: {number}" for reason, number in reasons.most_common(TOLD_REASONS))
    return (f"{text} ({why})" if why else text) or "nothing"
