"""When segments are merged, files joined and deleted rows taken out: decided on numbers."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.stores.lance.table_upkeep import (
    MERGED_SEGMENTS,
    MIN_DELETED_ROWS,
    Fragment,
    is_indexing_due,
    plan_emptying,
    plan_joining,
    plan_merge,
)


def files(*rows: int, deleted: int = 0) -> tuple[Fragment, ...]:
    return tuple(Fragment(id=number, rows=one, deleted=deleted) for number, one in enumerate(rows))


@pytest.mark.parametrize(
    ("sizes", "new", "merged"),
    [
        ((), 10, 0),
        ((100_000,), 1_500, 0),
        ((100_000, 1_500, 1_500), 1_500, 0),
        ((100_000, 1_500, 1_500, 1_500), 1_500, 3),
        ((100_000, 6_000, 6_000, 6_000, 1_500, 1_500, 1_500), 1_500, 6),
        ((1_500, 1_500, 1_500), 100_000, 3),
        ((0,), 11_000, 1),
        ((100_000, 0), 10, 1),
    ],
)
def test_the_newest_segments_of_like_size_are_merged_by_fours(
    sizes: Sequence[int], new: int, merged: int
) -> None:
    assert plan_merge(sizes, new) == merged


@given(st.lists(st.integers(1, 20_000), min_size=1, max_size=300))
def test_segments_stay_few_and_a_row_is_merged_a_few_times(added: list[int]) -> None:
    sizes: list[int] = []
    written = 0
    for new in added:
        merged = plan_merge(sizes, new)
        sizes = [*sizes[: len(sizes) - merged], new + sum(sizes[len(sizes) - merged :])]
        written += sizes[-1]
    tiers = 2 + max(sum(added) // 1_000, 1).bit_length() // 2
    assert sum(sizes) == sum(added)
    assert len(sizes) <= (MERGED_SEGMENTS - 1) * tiers
    assert written <= sum(added) * (tiers + 1)


def test_files_are_joined_once_there_are_many_of_like_size_that_the_same_segments_contain() -> None:
    assert plan_joining([files(*[100] * 15), files(*[100] * 15)]) == ()
    assert plan_joining([files(*[100] * 15), files(60_000, *[100] * 16)]) == tuple(range(1, 17))
    assert plan_joining([]) == ()


def test_deleted_rows_are_taken_out_once_they_are_a_good_part_of_the_table() -> None:
    whole, half = Fragment(id=0, rows=70_000, deleted=0), Fragment(id=1, rows=30_000, deleted=29_000)
    assert plan_emptying((whole, half)) == ()
    assert plan_emptying((whole, Fragment(id=1, rows=40_000, deleted=39_000))) == (1,)
    assert plan_emptying(files(MIN_DELETED_ROWS, deleted=MIN_DELETED_ROWS)) == ()
    assert plan_emptying(()) == ()


@pytest.mark.parametrize(
    ("unindexed", "rows", "due"), [(0, 0, False), (20, 100, False), (21, 100, True), (5_001, 10**6, True)]
)
def test_rows_outside_the_indexes_are_put_in_before_a_search_feels_them(
    unindexed: int, rows: int, due: bool
) -> None:
    assert is_indexing_due(unindexed, rows) is due
