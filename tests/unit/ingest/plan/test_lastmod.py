"""What a sitemap's dates are worth."""

import pytest

from ingest.plan.schedule import MIN_JUDGED, distrusted_sites, judge_claim, parse_lastmod
from tests.fakes.known import NOW, known

DAY = "2026-02-03T00:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-02-03", DAY),
        (" 2026-02-03T01:00:00+01:00\n", DAY),
        ("2026-02-03T00:00:00Z", DAY),
        ("2026-02-03T00:00:00.123Z", DAY),
        ("2026-02", "2026-02-01T00:00:00+00:00"),
        ("2026", "2026-01-01T00:00:00+00:00"),
        ("Tue, 03 Feb 2026 00:00:00 GMT", DAY),
        ("2026-03-02", None),  # has not come yet
        ("9999-12-31T23:59:59-23:00", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("yesterday", None),
        ("2026-02-31", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_of_sitemaps_and_feeds_are_read_and_the_future_is_not_believed(
    text: str | None, date: str | None
) -> None:
    assert parse_lastmod(text, now=NOW) == date


@pytest.mark.parametrize(
    ("now", "then", "changed", "verdict"),
    [
        ("2", "1", True, True),
        ("2", "1", False, False),
        ("1", "1", True, False),
        ("1", "1", False, None),
        ("1", None, True, None),
        (None, "1", True, None),
    ],
)
def test_a_claim_is_held_against_what_the_look_found(
    now: str | None, then: str | None, changed: bool, verdict: bool | None
) -> None:
    assert judge_claim(now, then, None, changed=changed) is verdict


def test_a_look_that_proves_nothing_leaves_the_verdict() -> None:
    assert judge_claim("1", "1", True, changed=False) is True
    assert judge_claim("1", "1", False, changed=False) is False


@pytest.mark.parametrize(
    ("true", "false", "distrusted"),
    [(0, MIN_JUDGED - 1, False), (0, MIN_JUDGED, True), (5, 5, False), (4, 5, True)],
)
def test_a_site_that_was_mostly_wrong_loses_its_say(true: int, false: int, distrusted: bool) -> None:
    verdicts = [True] * true + [False] * false + [None] * 9
    rows = [known(f"https://one.example/{n}", lastmod_held=held) for n, held in enumerate(verdicts)]
    rows += [known(f"https://two.example/{n}", lastmod_held=True) for n in range(9)]
    assert distrusted_sites(rows) == (frozenset({"https://one.example/"}) if distrusted else frozenset())
