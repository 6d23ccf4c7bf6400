"""What a run cost, by the cause that work was done for. The JSON contract is docs/reference/run-report.md."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar


class Cause(StrEnum):
    """What CPU time and bytes are spent on: the stages of a run, and the parts of them that may grow.

    `START` imports and opens; `PREFECT` is the walk's own bookkeeping and the server of a single run; `NAMES`
    is the catalogue of names and the texts that hold them; `INDEXES` is compaction, search indexes and old
    versions of tables; `OTHER` is what no cause is known of.
    """

    START = "start"
    PREFECT = "prefect"
    PLAN = "plan"
    FETCH = "fetch"
    PARSE = "parse"
    QUARANTINE = "quarantine"
    RECOVER = "recover"
    DIFF = "diff"
    EMBED = "embed"
    LINK = "link"
    NAMES = "names"
    SIMILAR = "similar"
    WRITE = "write"
    INDEXES = "indexes"
    DIGESTS = "digests"
    VERIFY = "verify"
    AUTHORITY = "authority"
    PUBLISH = "publish"
    COLLECT = "collect"
    REPORT = "report"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """CPU seconds, user and system together, and bytes read and written, cached or not."""

    cpu: float = 0.0
    read: int = 0
    written: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            cpu=self.cpu + other.cpu, read=self.read + other.read, written=self.written + other.written
        )

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(
            cpu=self.cpu - other.cpu, read=self.read - other.read, written=self.written - other.written
        )

    def at_least_zero(self) -> "Spent":
        """The same without what is below zero: two clocks that tick apart differ by a tick."""
        return Spent(cpu=max(self.cpu, 0.0), read=max(self.read, 0), written=max(self.written, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsTouched:
    """Rows of a table that a run wrote or removed, and how many readers see after it."""

    touched: int = 0
    there: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAccount:
    """What a run cost. The causes add up to `total`; both are empty where nothing was measured.

    `rows` are those of the whole index by table; of `documents`, `touched` are those whose rows were decided
    again.
    """

    total: Spent = Spent()
    causes: dict[str, Spent] = field(default_factory=dict)
    rows: dict[str, RowsTouched] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Readings of a meter: all that a process and its children spent, what of it has a cause, rows by table.

    `workers` is what children spent that tell of it themselves; it is in `total`, and not in `causes`. `told`
    is what workers said, those of other machines too, which are in nothing that was read here.
    """

    total: Spent = Spent()
    causes: Mapping[str, Spent] = field(default_factory=dict)
    workers: Spent = Spent()
    told: Mapping[str, Spent] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)

    def __sub__(self, before: "Costs") -> "Costs":
        return Costs(
            total=self.total - before.total,
            causes=_since(self.causes, before.causes),
            workers=self.workers - before.workers,
            told=_since(self.told, before.told),
            rows={table: number - before.rows.get(table, 0) for table, number in self.rows.items()},
        )


def add_spent(parts: Iterable[Mapping[str, Spent]]) -> dict[str, Spent]:
    """Add up what several processes spent, by cause."""
    total: dict[str, Spent] = {}
    for part in parts:
        for cause, spent in part.items():
            total[cause] = total.get(cause, Spent()) + spent
    return total


def settle(costs: Costs) -> dict[str, Spent]:
    """Return the causes of what was spent, `other` included, in the order of `Cause`.

    Workers of this machine are children, too: what they spent besides what they told is of no known cause.
    """
    rest, unsaid = costs.total - costs.workers, costs.workers
    for spent in costs.causes.values():
        rest -= spent
    for spent in costs.told.values():
        unsaid -= spent
    other = {Cause.OTHER.value: rest.at_least_zero() + unsaid.at_least_zero()}
    causes = add_spent((costs.causes, costs.told, other))
    return {cause.value: causes[cause] for cause in Cause if causes.get(cause, Spent()) != Spent()}


def total_of(causes: Mapping[str, Spent]) -> Spent:
    """What all causes spent together."""
    return sum(causes.values(), start=Spent())


def _since(now: Mapping[str, Spent], before: Mapping[str, Spent]) -> dict[str, Spent]:
    return {cause: spent - before.get(cause, Spent()) for cause, spent in now.items()}


T = TypeVar("T")


class CostListener(Protocol):
    """Is told what each thread works for."""

    def block(self, cause: Cause) -> AbstractContextManager[None]:
        """What the calling thread does in the block is done for *cause*; a block within it is its own."""

    def add_rows(self, table: str, number: int) -> None:
        """So many rows of a table were written or removed."""


_LISTENERS: list[CostListener] = []


def listen(listener: CostListener) -> None:
    """Tell one listener of everything from now on, in place of any before it."""
    _LISTENERS[:] = [listener]


@contextmanager
def caused_by(cause: Cause) -> Iterator[None]:
    """What the calling thread does in the block, it does for *cause*."""
    if not _LISTENERS:
        yield
        return
    with _LISTENERS[0].block(cause):
        yield


def count_rows(table: str, number: int) -> None:
    """Say that rows of a table were written or removed."""
    for listener in _LISTENERS:
        listener.add_rows(table, number)


def counted_rows(table: str, rows: Iterable[T]) -> Iterator[T]:
    """The rows as they are, counted once they have been taken."""
    number = 0
    try:
        for row in rows:
            number += 1
            yield row
    finally:
        count_rows(table, number)
