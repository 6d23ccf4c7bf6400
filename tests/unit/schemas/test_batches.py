"""Lists of what is many."""

from schemas.batches import IN_LIMIT, batched, in_parts


def test_items_keep_their_order_and_the_last_list_is_what_is_left() -> None:
    assert list(batched(iter("cab"), 2)) == [["c", "a"], ["b"]]
    assert list(batched([], 2)) == []


def test_values_of_a_query_are_sorted_and_named_once() -> None:
    assert list(in_parts(["b", "a", "b", "c"], 2)) == [["a", "b"], ["c"]]
    assert [len(part) for part in in_parts(range(IN_LIMIT + 1))] == [IN_LIMIT, 1]
