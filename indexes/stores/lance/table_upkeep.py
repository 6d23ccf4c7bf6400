"""Upkeep of a table: which index segments and files are due to be merged, and how pylance merges them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from lancedb.table import Table

if TYPE_CHECKING:
    import lance

Address = tuple[str, dict[str, str] | None]
"""Where a table is, and the options of its storage."""

BTREE_PAGE = 1024
"""Rows of a page of an index by value, of which a lookup reads one for each value and segment.

By default 4,096: 50 values among 7.2 million in six segments then take 60 CPU ms, not 41 (bench/RESULTS.md).
"""

_CACHE_BYTES = 64 << 20


def open_by_engine(address: Address, *, version: int | None = None) -> "lance.LanceDataset":
    """Open the newest version of a table, or another, by pylance; its caches stay small."""
    import lance

    uri, options = address
    session = lance.Session(index_cache_size_bytes=_CACHE_BYTES, metadata_cache_size_bytes=_CACHE_BYTES)
    return lance.dataset(uri, version=version, storage_options=options, session=session)


def declare_btree(uri: str, options: dict[str, str] | None, column: str) -> None:
    """Give an empty table an index by value; segments appended or merged later keep the size of its pages."""
    import lance
    from lance.indices import IndexConfig

    config = IndexConfig(index_type="btree", parameters={"zone_size": BTREE_PAGE})
    lance.dataset(uri, storage_options=options).create_scalar_index(column, config)


MERGED_SEGMENTS = 4
"""So many of like size become one. Forty questions in ten segments of text took twice the CPU time of one."""
JOINED_FILES = 16
"""The same of files, whose number a search feels less."""
SMALLEST_TIER = 1_000
"""Rows up to which segments and files are of like size."""
MAX_DELETED_SHARE = 0.3
"""Of a table's rows; from there on they are taken out of its files and of the statistics of BM25."""

MIN_DELETED_ROWS = 1_000
"""Fewer are left where they are in a table of any size."""

MAX_UNINDEXED_ROWS = 5_000
"""Searches read unindexed rows one by one: 20,000 chunks cost 180 ms instead of 6."""
MAX_UNINDEXED_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A file of rows: how many it has, and how many of them are deleted."""

    id: int
    rows: int
    deleted: int = 0

    @property
    def live(self) -> int:
        """Rows that readers see."""
        return self.rows - self.deleted


def is_indexing_due(unindexed: int, rows: int) -> bool:
    """Whether so many rows outside an index are too many for a table of *rows*."""
    return unindexed > min(MAX_UNINDEXED_ROWS, MAX_UNINDEXED_SHARE * rows)


def plan_merge(sizes: Sequence[int], new: int, *, least: int = MERGED_SEGMENTS) -> int:
    """Return how many of the newest segments to merge with *new* rows, which become a segment in any case.

    *sizes* are rows by segment, oldest first. Those of like size go together once they are *least* with the
    new one; what comes of it may complete the next tier. Segments without rows always go along.
    """
    taken, total = 0, new
    while True:
        like = _newest(sizes[: len(sizes) - taken], up_to=_tier(total))
        if like + 1 < least and any(sizes[len(sizes) - taken - like : len(sizes) - taken]):
            return taken
        if not like:
            return taken
        total += sum(sizes[len(sizes) - taken - like : len(sizes) - taken])
        taken += like


def plan_joining(groups: Collection[Sequence[Fragment]], *, least: int = JOINED_FILES) -> tuple[int, ...]:
    """Return ids of files to join: in a group, the newest once they are *least* of like size; else none.

    A group is adjacent files that the same segments contain; the driver joins no others.
    """
    for group in groups:
        sizes = [fragment.live for fragment in group]
        taken = 1 + plan_merge(sizes[:-1], sizes[-1], least=least)
        if taken >= least:
            return tuple(fragment.id for fragment in group[-taken:])
    return ()


def plan_emptying(fragments: Collection[Fragment], *, most: float = MAX_DELETED_SHARE) -> tuple[int, ...]:
    """Return the ids of files with deleted rows, once more than *most* of all rows are deleted; else none.

    Files with less than half of that share stay as they are.
    """
    rows, deleted = sum(one.rows for one in fragments), sum(one.deleted for one in fragments)
    if deleted <= max(most * rows, MIN_DELETED_ROWS):
        return ()
    return tuple(one.id for one in fragments if one.deleted > one.rows * most / 2)


def _newest(sizes: Sequence[int], *, up_to: int) -> int:
    count = 0
    for size in reversed(sizes):
        if _tier(size) > up_to:
            break
        count += 1
    return count


def _tier(rows: int) -> int:
    """Powers of four that *rows* are above SMALLEST_TIER."""
    return max(rows // SMALLEST_TIER, 1).bit_length() - 1 >> 1


MOST_JOINED_ROWS, MOST_JOINED_SMALL_ROWS = 65_536, 524_288
"""Rows of a file that is never joined with others: .4 GB of chunks, a third of that of edges."""
# What is left behind waits until a dozen generations' is freed at once: each time all files are listed.
MAX_STALE_VERSIONS = 24
# A generation is kept however old it is, so nothing goes by an age.
_NO_CLEANUP = timedelta(days=365 * 100)
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


class TableUpkeep:
    """Keeps the newest version of one table in order, for its only writer; rows never change.

    By pylance: what is new is indexed, few files are joined, and the rest stays as it is.
    """

    def __init__(self, table: Table, address: Address, *, small_rows: bool) -> None:
        """Take the table at *address*; *small_rows*: rows without vectors."""
        self._table, self._address = table, address
        self._most_rows = MOST_JOINED_SMALL_ROWS if small_rows else MOST_JOINED_ROWS

    def index_new_rows(self) -> None:
        """Append to each index a segment, with which it merges those of like size; or join files.

        Either only where it is due. Makes versions.
        """
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
        """From time to time, delete versions without a tag and the files that only they need.

        By number, not by age: a clock that was set back makes a later version look older.
        """
        opened = open_by_engine(self._address)
        if len(stale := _untagged(opened)) >= MAX_STALE_VERSIONS:
            opened.cleanup_old_versions(versions=stale, error_if_tagged_old_versions=False)

    def compact(self) -> bool:
        """Do a part of what makes the table as if it was just loaded; false where nothing was left to do.

        First one segment of each index's, then files joined, which the driver does within a segment alone.
        """
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
        """Delete all that no tag and not the newest version needs, what a crash left over included.

        Files of a crash are told from those of a writer by the lease: there is no other writer.
        """
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
