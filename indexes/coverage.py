"""What the ledger of an index says of documents that the index may lack, or has only as they were."""

from pathlib import Path

from indexes.layout import IndexLayout
from indexes.own_ledger import open_own_ledger
from schemas.coverage import Coverage
from schemas.documents import DocumentState

SET_ASIDE = frozenset({DocumentState.QUARANTINED, DocumentState.FAILED})
"""States in which what came last was not used."""


def read_coverage(index: Path, *, now: str, ledger_url: str | None = None, examples: int = 10) -> Coverage:
    """Return what the ledger of an index says *now*, ISO 8601 in UTC; nothing is written.

    Raises: ConfigError: no index there; StoreUnavailable: the ledger is not there, or cannot be reached.
    """
    ledger = open_own_ledger(IndexLayout(index.resolve()), ledger_url, read_only=True)
    try:
        states, due = ledger.documents.states(), ledger.health.due(now)
        return Coverage(
            due=dict(sorted(due.items())),
            set_aside={
                source: count
                for source, counted in sorted(states.items())
                if (count := sum(counted.get(state, 0) for state in SET_ASIDE))
            },
            examples=ledger.documents.in_states(SET_ASIDE, limit=examples),
        )
    finally:
        ledger.close()
