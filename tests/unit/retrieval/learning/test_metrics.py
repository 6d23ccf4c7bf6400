"""What rankings are worth against gold, and how sure a difference is."""

import pytest

from retrieval.learning.tuning import all_at, paired_bootstrap, recall_at, reciprocal_rank


def test_recall_counts_gold_among_the_first_and_each_document_once() -> None:
    assert recall_at(["a", "x", "b"], {"a", "b"}, 2) == 0.5
    assert recall_at(["a", "x", "b"], {"a", "b"}, 3) == 1.0
    assert recall_at([], {"a"}, 5) == 0.0
    assert recall_at(["a"], set(), 5) == 1.0


def test_all_is_one_only_with_the_whole_of_gold() -> None:
    assert (all_at(["a", "b"], {"a", "b"}, 2), all_at(["a", "b"], {"a", "b"}, 1)) == (1.0, 0.0)


def test_the_reciprocal_rank_is_that_of_the_first_hit_among_ten() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a", "b"}) == 0.5
    assert reciprocal_rank([*"qwertyuiop", "a"], {"a"}) == 0.0


def test_a_difference_that_every_question_shows_has_no_width() -> None:
    gain = paired_bootstrap([1.0, 0.5, 1.0], [0.5, 0.0, 0.5])
    assert (gain.mean, gain.low, gain.high) == (0.5, 0.5, 0.5)


def test_the_interval_is_the_same_every_time_and_holds_the_mean() -> None:
    values, others = [1.0, 0.0, 1.0, 1.0, 0.0] * 10, [0.0, 1.0, 1.0, 0.0, 0.0] * 10
    first, second = paired_bootstrap(values, others), paired_bootstrap(values, others)
    assert first == second
    assert first.low < first.mean < first.high
    assert first.mean == pytest.approx(0.2)


def test_nothing_to_compare_is_no_difference() -> None:
    nothing = paired_bootstrap([], [])
    assert (nothing.mean, nothing.low, nothing.high) == (0.0, 0.0, 0.0)
