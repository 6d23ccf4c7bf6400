"""How fresh a source is, against what its file promises."""

from datetime import UTC, datetime

import pytest

from schemas.report import FreshnessState, judge_freshness

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
ELEVEN = "2026-01-05T11:00:00+00:00"


@pytest.mark.parametrize(
    ("slo", "as_of", "age", "stale"),
    [
        (None, ELEVEN, 3600.0, False),
        (3600.0, ELEVEN, 3600.0, False),
        (3599.0, ELEVEN, 3600.0, True),
        (3600.0, "2026-01-05T13:00:00+00:00", 0.0, False),
        (3600.0, None, None, True),
        (None, None, None, False),
    ],
)
def test_a_source_is_stale_once_it_is_older_than_its_slo(
    slo: float | None, as_of: str | None, age: float | None, stale: bool
) -> None:
    assert judge_freshness(slo, as_of=as_of, now=NOON) == FreshnessState(
        slo=slo, as_of=as_of, age=age, stale=stale
    )
