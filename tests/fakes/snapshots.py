"""Rows of one in-memory table, with a frozen copy for each generation."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexes.digests import StoredRow, check_total, follows_change, state_after, state_of_rows
from indexes.ports import StoreState
from schemas.errors import ConfigError, SchemaMismatch, StaleLease, StoreUnavailable

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Generic[T]):
    """A value with its id, its kind for counting, and its hash."""

    id: str
    kind: str
    sha256: str
    value: T


Rows = Mapping[str, Row[T]]


class Snapshots(Generic[T]):
    """What readers and writers of one table share. Generation 0 is empty."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.commits = 0
        self.working: Rows[T] = {}
        self.tagged: dict[int, Rows[T]] = {0: {}}

    def at(self, generation: int) -> Rows[T]:
        """Rows of a generation.

        Raises: StoreUnavailable: it was pruned or never was.
        """
        if generation not in self.tagged:
            raise StoreUnavailable(f"generation {generation} was pruned or never was", subject=self.name)
        return self.tagged[generation]


class StagedRows(Generic[T]):
    """One writer of a table; finds out when it is not the only one."""

    def __init__(self, snapshots: Snapshots[T]) -> None:
        self._shared = snapshots
        self._commits: int | None = None
        self._base: Rows[T] = {}
        self._told: dict[str, str | None] = {}

    @property
    def rows(self) -> Rows[T]:
        """Rows as staged."""
        return self._shared.working

    def stage(self, generation: int, *, base: int) -> None:
        """Make the working rows those of *base*; an abandoned *generation* goes."""
        self._base = self._shared.working = self._shared.at(base)
        self._told = {}
        self._shared.tagged.pop(generation, None)
        self._shared.commits += 1
        self._commits = self._shared.commits

    def apply(self, upserts: Iterable[Row[T]], deletes: Collection[str]) -> None:
        """Upsert and delete at once; an id in both stays.

        Raises: SchemaMismatch: two different rows have one id; StaleLease: another writer came in between.
        """
        self._require_own()
        changed: dict[str, Row[T]] = {}
        for row in upserts:
            if changed.setdefault(row.id, row).sha256 != row.sha256:
                raise SchemaMismatch("two different rows have this id", subject=row.id)
        gone = set(deletes)
        kept = {key: row for key, row in self._shared.working.items() if key not in gone}
        self._shared.working = {**kept, **changed}
        self._told |= dict.fromkeys(gone) | {key: row.sha256 for key, row in changed.items()}

    def finish(self, generation: int, *, before: StoreState | None = None) -> StoreState:
        """Freeze the working rows as *generation*."""
        self._require_own()
        rows = self._shared.tagged[generation] = self._shared.working
        if before is None or not follows_change(before, self._told):
            return state(rows)
        gone, came = (_stored(held, self._told) for held in (self._base, rows))
        found = state_after(before, self._told, gone=gone, came=came, subject=self._shared.name)
        check_total(found, len(rows), subject=self._shared.name)
        return found

    def prune(self, *, keep: Collection[int]) -> None:
        """Forget all generations but *keep*."""
        self._shared.tagged = {key: rows for key, rows in self._shared.tagged.items() if key in keep}
        self._commits = None

    def _require_own(self) -> None:
        if self._commits is None:
            raise ConfigError("nothing is staged: stage() comes first", subject=self._shared.name)
        if self._commits != self._shared.commits:
            raise StaleLease("somebody else wrote in between; run again", subject=self._shared.name)


def hashes(rows: Rows[T]) -> dict[str, str]:
    """`row_sha256` by id."""
    return {key: row.sha256 for key, row in rows.items()}


def state(rows: Rows[T]) -> StoreState:
    """Counts per kind, and the hash of all rows."""
    return state_of_rows(_stored(rows, rows))


def damaged(rows: Rows[T], sha256_of: Callable[[T], str]) -> list[str]:
    """Ids whose value no longer matches its hash, in id order."""
    return [key for key in sorted(rows) if sha256_of(rows[key].value) != rows[key].sha256]


def _stored(rows: Rows[T], ids: Iterable[str]) -> list[StoredRow]:
    found = (rows[id_] for id_ in ids if id_ in rows)
    return [StoredRow(row.id, row.kind, row.sha256) for row in found]
