"""A network that breaks: the right number of tries, never half a document, and no request too early."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ingest.fetch.media import FetchLimits
from schemas.fetch import FetchResult, FetchStatus
from tests.fakes.fault_proxy import Breakage, Ending, FaultProxy, broken
from tests.fakes.fetch_clock import QuickClock
from tests.fakes.fetching import fetch, fetch_one, session_for, short_limits
from tests.fakes.site_server import Ask, Reply, Site, serve

_BODY = b"<html>" + b"<p>page</p>" * 30 + b"</html>"
_PAGE = Reply(_BODY)


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    """A site of one page behind a proxy that is still whole."""
    site = Site({"/a": _PAGE, "/robots.txt": Reply(b"", content_type="text/plain")})
    with serve(site), broken(site) as standing:
        yield standing


def _fetch(proxy: FaultProxy, breakage: Breakage, *, limits: FetchLimits | None = None) -> FetchResult:
    """Read robots.txt and the page once, then the page through *breakage*, then whole again."""
    with session_for(allow_private=(proxy.address,), limits=limits) as session:
        assert fetch_one(session, proxy.url("/a")).status is FetchStatus.OK
        proxy.passed.clear()
        proxy.breakage = breakage
        result = fetch_one(session, proxy.url("/a"))
        proxy.breakage = Breakage()
        assert fetch_one(session, proxy.url("/a")).body == _BODY
    return result


@pytest.mark.parametrize("ending", [Ending.RESET, Ending.TRUNCATE])
@pytest.mark.parametrize("after", [0, 1, 20, 120, 200, 400])
def test_an_answer_that_ends_at_any_byte_is_tried_four_times_and_is_no_document(
    proxy: FaultProxy, ending: Ending, after: int
) -> None:
    result = _fetch(proxy, Breakage(ending=ending, after=after))
    assert (result.status, result.requests, result.body) == (FetchStatus.FAILED, 4, None)
    assert proxy.passed[:4] == [after] * 4


@pytest.mark.parametrize("after", [0, 20, 400])
def test_an_answer_that_stalls_at_any_byte_is_a_timeout(proxy: FaultProxy, after: int) -> None:
    result = _fetch(proxy, Breakage(ending=Ending.STALL, after=after), limits=short_limits(0.3))
    assert (result.status, result.requests) == (FetchStatus.FAILED, 4)
    assert "no answer in time" in result.reason


def test_a_slow_drip_is_cut_at_the_total_deadline_and_tried_once_more(proxy: FaultProxy) -> None:
    usual = FetchLimits()
    limits = replace(usual, html=replace(usual.html, seconds=1.0))
    result = _fetch(proxy, Breakage(drip=0.05), limits=limits)
    assert (result.status, result.requests) == (FetchStatus.FAILED, 2)
    assert "deadline" in result.reason
    # 20 bytes take the second that is allowed, 40 would take another.
    assert all(passed < 40 for passed in proxy.passed[:2])


def test_latency_below_the_limits_costs_nothing_but_time(proxy: FaultProxy) -> None:
    result = _fetch(proxy, Breakage(latency=0.3), limits=short_limits(5))
    assert (result.status, result.requests) == (FetchStatus.OK, 1)


def test_a_host_that_refuses_connections_is_asked_four_times_and_then_left_alone() -> None:
    with serve(Site()) as site:
        closed = site.address
    with session_for(allow_private=(closed,)) as session:
        for path in ("/a", "/b"):
            result = fetch_one(session, f"http://{closed}{path}")
            assert result.status is FetchStatus.FAILED
            assert "robots.txt was unavailable" in result.reason
        assert session.totals.requests == 4


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5),
        ("3600", 3600),
        ("Tue, 01 Jan 2030 00:01:00 GMT", 60),
        ("Mon, 31 Dec 2029 23:00:00 GMT", 1),
        ("-1", 1),
        ("soon", 1),
        ("864000", 86400),
    ],
)
def test_the_server_sees_no_request_before_the_time_it_named(status: int, value: str, seconds: float) -> None:
    clock = QuickClock()
    asked: list[float] = []

    def answer(ask: Ask) -> Reply:
        asked.append(clock.seconds)
        return Reply(b"", status, {"Retry-After": value}) if len(asked) == 1 else _PAGE

    site = Site(dict.fromkeys(("/a", "/b", "/c"), answer))
    with serve(site), session_for(site, clock=clock) as session:
        fetch(session, *map(site.url, site.pages))
        clock.seconds += 86_400
        found = fetch(session, *map(site.url, site.pages))
    assert {result.status for result in found.values()} == {FetchStatus.OK}
    assert asked[1] - asked[0] >= seconds


_UGLY = "\x1b[2J\x9b31m\x07"


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": f"text/{_UGLY}"},
        {"Content-Encoding": f"x{_UGLY}"},
        {"Location": f"http://h.example/{_UGLY}", "Retry-After": _UGLY},
        {"Content-Type": "text/html", "Content-Length": f"9{_UGLY}"},
    ],
)
@pytest.mark.parametrize("status", [200, 302, 503])
def test_what_a_server_says_cannot_move_the_cursor_of_who_reads_the_reason(
    headers: dict[str, str], status: int
) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    raw = f"HTTP/1.1 {status} {_UGLY}\r\nConnection: close\r\n{lines}\r\n".encode("latin-1") + _BODY
    with serve(Site({"/a": Reply(raw=raw)})) as site, session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
    told: list[Any] = [result.reason, result.location or ""]
    assert all(text.isprintable() for text in told)
