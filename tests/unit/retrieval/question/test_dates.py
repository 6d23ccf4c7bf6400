"""Dates in filters: what is asked, and the intervals that stores are given."""

import pytest

from retrieval.question.query import filters_from_record, parse_filters
from schemas.errors import FilterError


def asked(*bounds: str) -> tuple[str, ...]:
    (found,) = parse_filters([f"last_modified{bound}" for bound in bounds])
    return found.values


@pytest.mark.parametrize(
    ("bounds", "intervals"),
    [
        ((">=2024-01-01",), ("2024-01-01/..",)),
        ((">2024-01-01",), ("2024-01-02/..",)),
        (("<=2024",), ("../2025-01-01",)),
        (("=2024-02",), ("2024-02-01/2024-03-01",)),
        (("=2024-12",), ("2024-12-01/2025-01-01",)),
        (("=2024-01-01..2024-06-30",), ("2024-01-01/2024-07-01",)),
        (("=2024..",), ("2024-01-01/..",)),
        (("=..2024-03",), ("../2024-04-01",)),
        ((">=2024-01-01", "<2024-06-01"), ("2024-01-01/2024-06-01",)),
        ((">=2024-01-01", ">=2024-03-01", "<2025", "<2026"), ("2024-03-01/2025-01-01",)),
        (("=2024-01-01", "=2024-03-01"), ("2024-01-01/2024-01-02", "2024-03-01/2024-03-02")),
        (("=2023", "=2024", ">=2023-07-01"), ("2023-07-01/2024-01-01", "2024-01-01/2025-01-01")),
        ((">=2024-01-01T02:00:00+02:00",), ("2024-01-01T00:00:00+00:00/..",)),
        ((">=2024-01-01T02:00:00 02:00",), ("2024-01-01T00:00:00+00:00/..",)),  # a + of a query string
        (("<2024-01-01t00:00z",), ("../2024-01-01T00:00:00+00:00",)),
        (("<2024-01-01T00:00-0530",), ("../2024-01-01T05:30:00+00:00",)),
    ],
)
def test_comparisons_bound_a_date_together_and_days_are_alternatives(
    bounds: tuple[str, ...], intervals: tuple[str, ...]
) -> None:
    assert asked(*bounds) == intervals


def test_json_says_a_range_as_two_comparisons() -> None:
    (found,) = filters_from_record({"last_modified": [">=2024-01-01", "<2024-06-01"]})
    assert found.values == ("2024-01-01/2024-06-01",)


@pytest.mark.parametrize(
    "bounds",
    [
        *[("=soon",), ("=..",), ("=2024-13",), ("=2024-02-30",), (">=2024-01-01T25:00",), ("=9999-12",)],
        *[
            ("=2024-06..2024-01",),
            (">=2024..2025",),
            (">=2025", "<2024"),
            ("=2023", ">=2024"),
            ("=20240101",),
        ],
        *[(">=9999-12-31",), (">=2024-01-01T00:00:00+99:00",), ("=9999",)],
    ],
)
def test_what_no_date_can_meet_is_an_error_and_not_an_empty_answer(bounds: tuple[str, ...]) -> None:
    with pytest.raises(FilterError, match="date"):
        asked(*bounds)
