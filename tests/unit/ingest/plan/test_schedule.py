"""Intervals that adapt, stay in bounds, and do not all end at once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.plan.schedule import (
    JITTER,
    missing_due,
    next_due,
    next_interval,
    retry_wait,
    wants_full_fetch,
)
from schemas.documents import DocumentState as S
from schemas.source import GoneAfter, Recrawl
from tests.fakes.known import NOW

HOUR, DAY = 3600.0, 86400.0
BOUNDS = Recrawl(min_interval=HOUR, max_interval=30 * DAY, max_age=30 * DAY)


@pytest.mark.parametrize(
    ("interval", "changed", "expected"),
    [
        (None, True, DAY),
        (None, False, DAY),
        (10 * HOUR, True, 8 * HOUR),
        (10 * HOUR, False, 14 * HOUR),
        (HOUR, True, HOUR),
        (30 * DAY, False, 30 * DAY),
        (29 * DAY, False, 30 * DAY),
    ],
)
def test_the_interval_shrinks_on_change_and_grows_without(
    interval: float | None, changed: bool, expected: float
) -> None:
    assert next_interval(interval, changed=changed, recrawl=BOUNDS) == pytest.approx(expected)


def test_the_first_interval_keeps_to_the_bounds_too() -> None:
    rare, often = (
        Recrawl(min_interval=3 * DAY, max_interval=9 * DAY),
        Recrawl(min_interval=1, max_interval=60),
    )
    assert next_interval(None, changed=True, recrawl=rare) == 3 * DAY
    assert next_interval(None, changed=True, recrawl=often) == 60


@settings(deadline=None)
@given(st.none() | st.floats(0, 1e9), st.booleans(), st.floats(0, 1e6), st.floats(0, 1e6))
def test_an_interval_never_leaves_its_bounds(
    interval: float | None, changed: bool, low: float, more: float
) -> None:
    bounds = Recrawl(min_interval=low, max_interval=low + more)
    assert low <= next_interval(interval, changed=changed, recrawl=bounds) <= low + more


@settings(deadline=None)
@given(st.text(), st.floats(0, 30 * DAY))
def test_the_next_look_is_spread_by_at_most_a_tenth_either_way(uri: str, interval: float) -> None:
    due = next_due(uri, checked_at=NOW, interval=interval)
    off = abs((due - NOW).total_seconds() - interval)
    assert off <= JITTER * interval + 1e-3
    assert due == next_due(uri, checked_at=NOW, interval=interval)


@pytest.mark.parametrize(
    ("state", "failures", "interval", "wait"),
    [
        (S.FAILED, 1, 10 * DAY, HOUR),
        (S.FAILED, 2, 10 * DAY, 2 * HOUR),
        (S.FAILED, 6, 10 * DAY, 32 * HOUR),
        (S.FAILED, 99, 10 * DAY, 10 * DAY),
        (S.FAILED, 0, 10 * DAY, HOUR),  # not by the network: it could not be parsed
        (S.FAILED, 6, None, DAY),
        (S.FAILED, 3, 2 * HOUR, 2 * HOUR),
        (S.QUARANTINED, 0, 10 * DAY, DAY),
        (S.QUARANTINED, 0, 2 * HOUR, 2 * HOUR),
        (S.DISALLOWED, 0, 10 * DAY, DAY),
        (S.FETCHED, 0, 10 * DAY, None),
        (S.NOT_MODIFIED, 0, 10 * DAY, None),
        (S.REDIRECTED, 0, 10 * DAY, None),
        (S.DUPLICATE, 0, 10 * DAY, None),
        (S.GONE, 0, 10 * DAY, None),
    ],
)
def test_trouble_has_a_clock_of_its_own(
    state: S, failures: int, interval: float | None, wait: float | None
) -> None:
    assert retry_wait(state, failures=failures, interval=interval, recrawl=BOUNDS) == wait


@settings(deadline=None)
@given(st.sampled_from(S), st.integers(0, 10**6), st.floats(HOUR, 30 * DAY))
def test_trouble_makes_no_document_rarer_and_no_host_busier(state: S, failures: int, interval: float) -> None:
    wait = retry_wait(state, failures=failures, interval=interval, recrawl=BOUNDS)
    assert wait is None or HOUR <= wait <= interval


@settings(deadline=None)
@given(st.text(), st.none() | st.floats(DAY, 30 * DAY), st.integers(0, 999_999))
def test_a_404_is_looked_at_again_as_soon_as_it_may_be_confirmed_and_no_earlier(
    uri: str, interval: float | None, micros: int
) -> None:
    missed = NOW + timedelta(microseconds=micros)
    due = missing_due(uri, missed_at=missed, checked_at=missed, interval=interval, recrawl=BOUNDS)
    assert timedelta(0) <= due - (missed + timedelta(hours=24)) < timedelta(seconds=1)
    assert not due.microsecond, "the ledger cuts it off"


@settings(deadline=None)
@given(st.text(), st.floats(0, 99), st.floats(0, 99), st.floats(HOUR, 30 * DAY))
def test_a_404_makes_no_document_rarer_and_no_host_busier(
    uri: str, hours: float, looked: float, interval: float
) -> None:
    recrawl = replace(BOUNDS, gone_after=GoneAfter(hours=hours))
    looked_at = NOW + timedelta(hours=looked)
    due = missing_due(uri, missed_at=NOW, checked_at=looked_at, interval=interval, recrawl=recrawl)
    wait = (due - looked_at).total_seconds()
    assert HOUR * (1 - JITTER) <= wait <= max(interval * (1 + JITTER), HOUR) + 1


@pytest.mark.parametrize("hours", [1, 22, 23])
def test_a_look_in_between_does_not_put_the_confirmation_of_a_404_off(hours: float) -> None:
    looked = NOW + timedelta(hours=hours)
    due = missing_due("u", missed_at=NOW, checked_at=looked, interval=10 * DAY, recrawl=BOUNDS)
    assert due == NOW + timedelta(hours=24)


@pytest.mark.parametrize(
    ("misses", "hours", "looked", "due"),
    [
        (2, 24, 23.5, 24.5),
        (3, 24, 24, 25),  # the hours are over, and another look is needed
        (2, 0, 0, 1),
    ],
)
def test_a_404_asks_no_host_more_often_than_it_may_be_asked(
    misses: int, hours: float, looked: float, due: float
) -> None:
    recrawl = Recrawl(min_interval=HOUR, gone_after=GoneAfter(misses=misses, hours=hours))
    looked_at = NOW + timedelta(hours=looked)
    found = missing_due("u", missed_at=NOW, checked_at=looked_at, interval=10 * DAY, recrawl=recrawl)
    assert found == NOW + timedelta(hours=due)


def test_a_page_that_is_looked_at_often_is_so_while_it_is_missing_since_it_may_be_back() -> None:
    def due_after(hours: float) -> timedelta:
        looked = NOW + timedelta(hours=hours)
        due = missing_due("u", missed_at=NOW, checked_at=looked, interval=2 * HOUR, recrawl=BOUNDS)
        return due - NOW

    assert due_after(0) == next_due("u", checked_at=NOW, interval=2 * HOUR) - NOW
    assert due_after(23) == timedelta(hours=24)


def test_a_thousand_documents_do_not_come_due_together() -> None:
    dues = {next_due(f"https://h.example/{n}", checked_at=NOW, interval=DAY) for n in range(1000)}
    hours = {due.replace(minute=0, second=0, microsecond=0) for due in dues}
    assert len(dues) > 990
    assert len(hours) >= 4


@pytest.mark.parametrize(
    ("fetched_at", "full"),
    [
        (None, True),
        (NOW, False),
        (NOW - timedelta(days=30), False),
        (NOW - timedelta(days=30, seconds=1), True),
        (datetime(1999, 1, 1, tzinfo=UTC), True),
        (NOW + timedelta(days=365), True),
    ],
)
def test_old_content_is_fetched_without_conditions(fetched_at: datetime | None, full: bool) -> None:
    text = fetched_at.isoformat() if fetched_at else None
    assert wants_full_fetch(text, now=NOW, recrawl=BOUNDS) is full
