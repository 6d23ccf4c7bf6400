"""What upkeep of a table is due: segments of indexes to merge, files to join. Pure decisions.

A search index is a row of segments, each over some fragments (files of rows). To append one costs what is
new, but a search looks into every segment. So segments of like size are merged: a row is merged once for each
fourfold growth of its segment, and a table of n rows has a number of segments like log n. Files go the same
way, later: each is one more to open, and what is deleted in it still takes room.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

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
