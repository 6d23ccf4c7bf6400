"""When the next request may go out."""

from datetime import UTC, datetime

import pytest

from ingest.fetch.host import FAILURES, OPEN_SECONDS, Breaker
from ingest.fetch.politeness import backoff_delay, pace_delay, parse_retry_after
from schemas.fetch import FetchStatus
from tests.fakes.fetch_clock import QuickClock, WallClock
from tests.fakes.fetching import fetch, fetch_one, session_for
from tests.fakes.site_server import Ask, Reply, Site, serve

_NOW = datetime(2030, 1, 1, tzinfo=UTC)
_PAGE = Reply(b"<p>page</p>")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0),
        (" 120 ", 120.0),
        ("864000", 864000.0),
        ("Tue, 01 Jan 2030 00:01:00 GMT", 60.0),
        ("Tue, 01 Jan 2030 00:01:00 -0000", 60.0),
        ("Mon, 31 Dec 2029 00:00:00 GMT", None),
        ("0", None),
        ("-1", None),
        ("soon", None),
        ("Tue, 01 Jan 2030 00:01:00 +99999999999999999", None),
        ("1e3", None),
        ("٣", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_from_now(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, now=_NOW) == seconds


def test_the_slowest_wish_sets_the_pace() -> None:
    assert pace_delay(per_host_delay=1.0, crawl_delay=0.0, last_response=0.1) == 1.0
    assert pace_delay(per_host_delay=1.0, crawl_delay=7.0, last_response=0.1) == 7.0
    assert pace_delay(per_host_delay=1.0, crawl_delay=0.0, last_response=2.0) == 10.0
    assert pace_delay(per_host_delay=1.0, crawl_delay=0.0, last_response=99.0) == 30.0


def test_no_delay_of_our_own_leaves_only_the_sites_wish() -> None:
    assert pace_delay(per_host_delay=0.0, crawl_delay=0.0, last_response=2.0) == 0.0
    assert pace_delay(per_host_delay=0.0, crawl_delay=3.0, last_response=2.0) == 3.0


def test_back_off_doubles_and_is_spread_by_url() -> None:
    first, second, third = (backoff_delay("http://h/a", attempt=n, base=1.0) for n in (1, 2, 3))
    assert 1 <= first < 1.5
    assert 2 <= second < 3
    assert 4 <= third < 6
    assert first == backoff_delay("http://h/a", attempt=1, base=1.0)
    assert first != backoff_delay("http://h/b", attempt=1, base=1.0)


def test_five_failures_open_the_circuit_and_one_probe_may_close_it() -> None:
    breaker = Breaker()
    for _ in range(FAILURES - 1):
        breaker.failed(0.0)
    assert breaker.allows(0.0)
    breaker.failed(0.0)
    assert not breaker.allows(OPEN_SECONDS - 1)
    assert breaker.allows(OPEN_SECONDS)
    breaker.started()
    assert not breaker.allows(OPEN_SECONDS)
    breaker.succeeded()
    assert breaker.allows(OPEN_SECONDS)


@pytest.mark.parametrize("fail", [Breaker.failed, Breaker.busy])
def test_a_failed_probe_opens_the_circuit_again(fail: object) -> None:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.failed(0.0)
    breaker.started()
    assert callable(fail)
    fail(breaker, OPEN_SECONDS)
    assert not breaker.allows(2 * OPEN_SECONDS - 1)
    assert breaker.allows(2 * OPEN_SECONDS)


def test_a_probe_that_tells_nothing_leaves_room_for_the_next() -> None:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.failed(0.0)
    breaker.started()
    breaker.given_up()
    assert not breaker.allows(OPEN_SECONDS - 1)
    assert breaker.allows(OPEN_SECONDS)
    breaker.started()
    breaker.failed(OPEN_SECONDS)
    assert not breaker.allows(2 * OPEN_SECONDS - 1)


def test_an_answer_in_between_forgets_earlier_failures() -> None:
    breaker = Breaker()
    for _ in range(3):
        for _ in range(FAILURES - 1):
            breaker.failed(0.0)
        breaker.succeeded()
    assert breaker.allows(0.0)


def test_what_the_last_try_is_told_to_wait_keeps_the_next_document_back() -> None:
    clock, asked = QuickClock(), list[float]()
    site = Site({"/a": Reply(b"", 503, {"Retry-After": "60"}), "/robots.txt": Reply(b"", 404)})

    def page(_: Ask) -> Reply:
        asked.append(clock.seconds)
        return _PAGE

    site.pages["/b"] = page
    with serve(site), session_for(site, clock=clock) as session:
        assert fetch_one(session, site.url("/a")).statuses == (503,) * 4
        fetch_one(session, site.url("/b"))
    assert asked == [240.0]


def test_a_host_that_asks_for_days_is_parked_for_one_and_the_rest_fails_unasked() -> None:
    clock = QuickClock()
    site = Site({"/a": [Reply(b"", 503, {"Retry-After": "864000"}), _PAGE], "/b": _PAGE})
    with serve(site), session_for(site, clock=clock) as session:
        found = fetch(session, site.url("/a"), site.url("/b"))
        assert {result.status for result in found.values()} == {FetchStatus.FAILED}
        assert "864000 s" in found[site.url("/b")].reason
        assert site.paths() == ["/a"]
        clock.seconds += 86_401
        assert fetch_one(session, site.url("/b")).status is FetchStatus.OK


def test_of_two_wishes_to_be_left_alone_the_longer_one_holds() -> None:
    clock = QuickClock()
    site = Site(
        {
            "/first": Reply(b"", 503, {"Retry-After": "80000"}, stall=0.1),
            "/second": Reply(b"", 503, {"Retry-After": "4000"}, stall=0.4),
            "/third": _PAGE,
        }
    )
    with serve(site), session_for(site, clock=clock, concurrency=2) as session:
        fetch(session, site.url("/first"), site.url("/second"))
        clock.seconds += 5_000
        assert "80000 s" in fetch_one(session, site.url("/third")).reason
    assert sorted(site.paths()) == ["/first", "/second"]


def test_no_more_connections_are_open_than_allowed() -> None:
    site = Site({f"/{n}": Reply(b"<p>page</p>", stall=0.05) for n in range(12)})
    with serve(site), session_for(site, clock=WallClock(), concurrency=3) as session:
        fetch(session, *[site.url(f"/{n}") for n in range(12)])
    assert site.most_connections == 3
