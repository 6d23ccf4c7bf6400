"""The generation a run is making, kept in its process while tasks take turns on it."""

from dataclasses import dataclass

from indexes.stores.ledger.generations import Generation
from indexes.stores.ledger.leases import Lease
from indexes.write.apply import StagedState
from schemas.changes import DocumentChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a run found, against the generation that readers see."""

    base: int
    changes: tuple[DocumentChange, ...]
    documents: dict[str, int]
    live: int = 0
    guard: str | None = None


@dataclass(slots=True, kw_only=True)
class Work:
    """Filled step by step; `rows` is the RowPlan between linking and freezing."""

    difference: Difference
    lease: Lease
    as_of: str
    accept: bool = False
    rows: object = None
    generation: Generation | None = None
    staged: StagedState | None = None


_WORK: dict[str, Work] = {}


def start_work(run_id: str, work: Work) -> Work:
    """Make the run's work available to its tasks."""
    _WORK[run_id] = work
    return work


def work_of(run_id: str) -> Work:
    """The work of a run in this process."""
    return _WORK[run_id]


def end_work(run_id: str) -> None:
    """Forget a run's work."""
    _WORK.pop(run_id, None)
