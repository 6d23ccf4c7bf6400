"""The blend and its parts."""

import pytest

from retrieval.ranking.score import blend, normalise, score_freshness, score_text
from schemas.evidence import Scores


def test_the_blend_weighs_the_parts_as_designed() -> None:
    assert blend(Scores(text=1, graph=1, anchor=1, authority=1, freshness=1)) == 1.0
    assert blend(Scores(text=1)) == 0.5
    assert blend(Scores(graph=1)) == 0.25
    assert blend(Scores(anchor=1)) == 0.15
    assert blend(Scores(authority=1)) == 0.05
    assert blend(Scores(freshness=1)) == 0.05


@pytest.mark.parametrize(
    ("activation", "ran", "text"), [(0.9, True, 0.9), (0.1, True, 0.4), (None, True, 0.2), (None, False, 0.4)]
)
def test_text_is_raised_where_reached_and_halved_where_the_spread_passed_by(
    activation: float | None, ran: bool, text: float
) -> None:
    assert score_text(0.4, activation, spread_ran=ran) == pytest.approx(text)


@pytest.mark.parametrize(
    ("dated", "as_of", "score"),
    [
        ("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00", 1.0),
        ("2025-07-05T00:00:00+00:00", "2026-01-01T00:00:00+00:00", 0.5),
        ("2025-07-05", "2026-01-01T00:00:00Z", 0.5),
        ("2027-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00", 1.0),
        (None, "2026-01-01T00:00:00+00:00", 0.5),
        ("last Tuesday", "2026-01-01T00:00:00+00:00", 0.5),
        ("2025-07-05T00:00:00+00:00", "", 0.5),
    ],
)
def test_freshness_halves_every_180_days_and_is_a_half_where_unknown(
    dated: str | None, as_of: str, score: float
) -> None:
    assert score_freshness(dated, as_of) == pytest.approx(score)


def test_activations_are_divided_by_the_largest() -> None:
    assert normalise({"a": 0.5, "b": 0.25}) == {"a": 1.0, "b": 0.5}
    assert normalise({"a": 0.0}) == {"a": 0.0}
    assert normalise({}) == {}
