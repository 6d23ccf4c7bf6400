"""What the ledger tells of generations and of the runs that made them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RUNNING, INTERRUPTED = "running", "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestor:
    """A generation that readers see or saw on the way; `changes_kept`: what it changed is still known."""

    generation: int
    base: int
    as_of: str
    source: str
    run_id: str
    changes_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run as the ledger tells of it: `running` until it is finished or refused, its report as JSON."""

    run_id: str
    source: str
    state: str
    started_at: str
    finished_at: str | None
    report: Mapping[str, Any] | None


def state_of_run(state: str, *, under_way: bool) -> str:
    """Return the state of a run as its row has it; one that nobody goes on with is INTERRUPTED."""
    return INTERRUPTED if state == RUNNING and not under_way else state


def reason_of_run(state: str, report: Mapping[str, Any] | None, *, under_way: bool) -> str | None:
    """Return why a run ended as it did; None while it goes on, whatever stopped it before."""
    return None if state == RUNNING and under_way else (report or {}).get("reason")
