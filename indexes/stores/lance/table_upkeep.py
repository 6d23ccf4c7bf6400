"""Keeps a table in order, by the driver that can do it part by part where it is installed.

lancedb has one call for everything, `optimize`, whose price follows the table. pylance, another face of the
same engine, has a call for each part. It comes with the extra `pipeline`: whoever only reads needs neither.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

from lancedb.table import Table

from indexes.stores.lance.engine import Address, has_engine, open_by_engine
from indexes.stores.lance.upkeep import (
    Fragment,
    is_indexing_due,
    plan_emptying,
    plan_joining,
    plan_merge,
)

if TYPE_CHECKING:
    import lance

MOST_JOINED_ROWS, MOST_JOINED_SMALL_ROWS = 65_536, 524_288
"""Rows of a file that is never joined with others: .4 GB of chunks, a third of that of edges."""
MAX_SMALL_FRAGMENTS = 20
# What is left behind waits until a dozen generations' is freed at once: each time all files are listed.
MAX_STALE_VERSIONS = 24
# How long a cleanup may take to start; if it takes longer, it fails whole and the next prune tries again.
MARGIN = timedelta(seconds=10)
# `optimize` also deletes versions, by default those of 7 days; where one of them is tagged it raises instead
# (LanceDB 0.40, Table.optimize). A generation is kept however old it is, so nothing goes by a default.
_NO_CLEANUP = timedelta(days=365 * 100)
_TAGGED = "Cleanup error"
_ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TableParts:
    """How a table lies on the disk: its files, and those in each segment of each index, oldest first."""

    fragments: tuple[Fragment, ...]
    segments: dict[str, tuple[frozenset[int], ...]]

    @property
    def rows(self) -> int:
        """Rows that readers see."""
        return sum(fragment.live for fragment in self.fragments)

    def sizes(self, index: str) -> tuple[int, ...]:
        """Rows by segment of an index, oldest first."""
        rows = {fragment.id: fragment.live for fragment in self.fragments}
        return tuple(sum(rows.get(number, 0) for number in files) for files in self.segments[index])

    def unindexed(self, index: str) -> int:
        """Rows that no segment of an index contains."""
        return self.rows - sum(self.sizes(index))

    def groups(self) -> tuple[tuple[Fragment, ...], ...]:
        """Files next to each other that the same segments contain."""

        def segments(fragment: Fragment) -> frozenset[tuple[str, int]]:
            placed = (
                (name, n, files) for name, held in self.segments.items() for n, files in enumerate(held)
            )
            return frozenset((name, number) for name, number, files in placed if fragment.id in files)

        return tuple(tuple(group) for _, group in groupby(self.fragments, key=segments))


class TableUpkeep(Protocol):
    """Keeps the newest version of one table in order; for its only writer. Rows never change."""

    def index_new_rows(self) -> None:
        """Put new rows into the indexes, and join files, where either is due. Makes versions."""

    def free(self) -> None:
        """From time to time, delete versions without a tag and the files that only they need."""

    def compact(self) -> bool:
        """Do a part of what makes the table as if it was just loaded; false where nothing was left to do."""

    def sweep(self) -> None:
        """Delete all that no tag and not the newest version needs, what a crash left over included."""


def upkeep_of(table: Table, address: Address, *, small_rows: bool) -> TableUpkeep:
    """Return the upkeep of the table at *address*; *small_rows*: rows without vectors."""
    if not has_engine():
        return WholeUpkeep(table)
    return PartedUpkeep(table, address, most_rows=MOST_JOINED_SMALL_ROWS if small_rows else MOST_JOINED_ROWS)


class PartedUpkeep:
    """By pylance: what is new is indexed, few files are joined, and the rest stays as it is."""

    def __init__(self, table: Table, address: Address, *, most_rows: int) -> None:
        self._table, self._address, self._most_rows = table, address, most_rows

    def index_new_rows(self) -> None:
        """Append to each index a segment, with which it merges those of like size; or join files."""
        opened = open_by_engine(self._address)
        parts = _parts_of(opened)
        unindexed = max(map(parts.unindexed, parts.segments), default=0)
        chosen = plan_emptying(parts.fragments) or plan_joining(parts.groups())
        if chosen:
            self._join(opened, excluded=[one.id for one in parts.fragments if one.id not in chosen])
        # Each takes versions: one of the two is enough for a run, unless it brought very many rows.
        if is_indexing_due(unindexed // (2 if chosen else 1), parts.rows):
            for merged, indexes in _by_merge(_parts_of(opened)).items():
                opened.optimize.optimize_indices(num_indices_to_merge=merged, index_names=list(indexes))
        self._table.checkout_latest()

    def free(self) -> None:
        """Delete by number, not by age: a clock that was set back makes a later version look older."""
        opened = open_by_engine(self._address)
        if len(stale := _untagged(opened)) >= MAX_STALE_VERSIONS:
            opened.cleanup_old_versions(versions=stale, error_if_tagged_old_versions=False)

    def compact(self) -> bool:
        """Make one segment of each index's; then join files, which the driver does within a segment alone."""
        opened = open_by_engine(self._address)
        parts, before = _parts_of(opened), opened.version
        several = [name for name, held in parts.segments.items() if len(held) > 1 or parts.unindexed(name)]
        if several:
            opened.optimize.optimize_indices(num_indices_to_merge=_ALL, index_names=several)
        else:
            self._join(opened)
        self._table.checkout_latest()
        return bool(self._table.version != before)

    def sweep(self) -> None:
        """Files of a crash are told from those of a writer by the lease: there is no other writer."""
        opened = open_by_engine(self._address)
        if stale := _untagged(opened):
            opened.cleanup_old_versions(versions=stale, error_if_tagged_old_versions=False)
        opened.cleanup_old_versions(_NO_CLEANUP, delete_unverified=True, error_if_tagged_old_versions=False)

    def _join(self, opened: "lance.LanceDataset", *, excluded: Sequence[int] = ()) -> None:
        opened.optimize.compact_files(
            target_rows_per_fragment=self._most_rows,
            materialize_deletions_threshold=0.0,
            excluded_fragment_ids=list(excluded),
            num_threads=1,  # each holds what it joins
        )


class WholeUpkeep:
    """By lancedb alone: one call that does everything, over thresholds."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def index_new_rows(self) -> None:
        """Optimise the whole table where that is due."""
        unindexed = max((index.num_unindexed_rows for index in self._table.list_indices()), default=0)
        stats: Any = self._table.stats()  # a dictionary, whatever its annotation says
        small = int(stats["fragment_stats"]["num_small_fragments"])
        if is_indexing_due(unindexed, stats["num_rows"]) or small > MAX_SMALL_FRAGMENTS:
            self._optimize()

    def free(self) -> None:
        """A cleanup also compacts, so it waits until it frees about a dozen generations' leftovers."""
        tagged = {tag["version"] for tag in self._table.tags.list().values()}
        times = {item["version"]: item["timestamp"] for item in self._table.list_versions()}
        if tagged and sum(version < min(tagged) for version in times) >= MAX_STALE_VERSIONS:
            self._clean_before(tagged)

    def compact(self) -> bool:
        """Optimise the whole table, once."""
        before = self._table.version
        self._optimize()
        return bool(self._table.version != before)

    def sweep(self) -> None:
        """Delete what is older than the oldest tag."""
        if tagged := {tag["version"] for tag in self._table.tags.list().values()}:
            self._clean_before(tagged)

    def _optimize(self) -> None:
        self._table.optimize(cleanup_older_than=_NO_CLEANUP)

    def _clean_before(self, tagged: Collection[int]) -> None:
        times = {item["version"]: item["timestamp"] for item in self._table.list_versions()}
        self._optimize()  # first, so that the cleanup below starts at once
        # Ages are counted by the store's clock: the time it gives to a version made now.
        self._table.checkout(self._table.version)
        self._table.restore()
        now = self._table.list_versions()[-1]["timestamp"].timestamp()
        # By time, not by number: a clock that was set back makes a later version look older.
        # A version whose manifest was lost is not listed; nothing of it can be kept.
        oldest = min((times[version].timestamp() for version in tagged if version in times), default=now)
        age = timedelta(seconds=max(now - oldest, 0.0))
        try:
            self._table.optimize(cleanup_older_than=age + MARGIN)
        except RuntimeError as error:
            # It started so late that a tagged version is older than the window; the next prune tries again.
            if _TAGGED not in str(error):
                raise


def _parts_of(opened: "lance.LanceDataset") -> TableParts:
    fragments = []
    for one in opened.get_fragments():
        deletions = one.metadata.deletion_file
        deleted = deletions.num_deleted_rows if deletions else 0
        fragments.append(Fragment(id=one.fragment_id, rows=one.physical_rows, deleted=deleted or 0))
    segments = {
        index.name: tuple(frozenset(segment.fragment_ids) for segment in index.segments)
        for index in opened.describe_indices()
    }
    return TableParts(fragments=tuple(fragments), segments=segments)


def _by_merge(parts: TableParts) -> dict[int, tuple[str, ...]]:
    """Indexes that lack rows, by how many segments to merge: mostly all alike, so that one commit does it."""
    lacking = {name: new for name in parts.segments if (new := parts.unindexed(name))}
    merged = {name: plan_merge(parts.sizes(name), new) for name, new in lacking.items()}
    counts = sorted(set(merged.values()))
    return {count: tuple(name for name, own in merged.items() if own == count) for count in counts}


def _untagged(opened: "lance.LanceDataset") -> list[int]:
    tagged = {tag["version"] for tag in opened.tags.list().values()}
    return [one["version"] for one in opened.versions() if one["version"] not in tagged | {opened.version}]
