"""What the ledger of an index says of documents that the index may lack, or has only as they were."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from indexes.layout import IndexLayout
from indexes.own_ledger import open_own_ledger
from schemas.coverage import Coverage
from schemas.documents import DocumentState

SET_ASIDE = frozenset({DocumentState.QUARANTINED, DocumentState.FAILED})
"""States in which what came last was not used."""

LEFT_OUT = {
    DocumentState.OUT_OF_SCOPE: "out of scope",
    DocumentState.DISALLOWED: "forbidden by robots.txt",
    DocumentState.UNSUPPORTED: "of a format that is not read",
    DocumentState.MISSING: "not found at the last look",
}
CAPPED = "beyond a cap"
_CAP = re.compile(
    r"(?:max_\w+ .* reached|deeper than max_depth \d+); documents not followed: (?:at least )?(\d+)"
)
"""As flows/run/problems.py words it, of documents that the ledger keeps no row of."""


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
            left_out=count_left_out(states, ledger.runs.latest_reports()),
        )
    finally:
        ledger.close()


def count_left_out(
    states: Mapping[str, Mapping[str, int]], runs: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Mapping[str, int]]:
    """Count by source and reason what nobody can find here; a cap by what the last run says of it."""
    found: dict[str, dict[str, int]] = {}
    for source in sorted({*states, *runs}):
        counted = states.get(source, {})
        reasons = {why: number for state, why in LEFT_OUT.items() if (number := counted.get(state, 0))}
        if capped := _capped((runs.get(source, {}).get("report") or {}).get("problems", ())):
            reasons[CAPPED] = capped
        if reasons:
            found[source] = reasons
    return found


def _capped(problems: Iterable[Mapping[str, str]]) -> int:
    matches = (_CAP.match(problem["reason"]) for problem in problems)
    return sum(int(match[1]) for match in matches if match)
