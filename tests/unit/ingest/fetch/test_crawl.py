"""A wave of documents over several hosts, and how it stops."""

import threading
import time
from contextlib import closing

import pytest

from ingest.fetch.client import FetchSession
from ingest.fetch.document import fetch_all
from ingest.uses import TDM_FILE
from schemas.errors import ConfigError, Stopped
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from tests.fakes.fetch_clock import QuickClock, WallClock
from tests.fakes.fetching import AGENT, fetch, fetch_one, never, session_for, stop_after
from tests.fakes.site_server import Reply, Site, serve

_PAGE = Reply(b"<p>page</p>")


def _pages(count: int, reply: Reply = _PAGE) -> Site:
    return Site({f"/{n}": reply for n in range(count)})


def _requests(*sites: Site) -> list[FetchRequest]:
    return [FetchRequest(url=site.url(path)) for site in sites for path in sorted(site.pages)]


def test_hosts_go_side_by_side_and_each_keeps_its_order() -> None:
    slow = Reply(b"<p>page</p>", stall=0.1)
    one, two = _pages(5, slow), _pages(5, slow)
    with serve(one), serve(two, host="127.0.0.2"), session_for(one, two, clock=WallClock()) as session:
        found = fetch(session, *_requests(one, two))
    assert max(one.log[0].at, two.log[0].at) < min(one.log[-1].at, two.log[-1].at)
    assert {result.status for result in found.values()} == {FetchStatus.OK}
    assert one.paths() == two.paths() == sorted(one.pages)


def test_results_come_in_the_callers_thread_as_they_complete() -> None:
    threads: list[threading.Thread] = []
    site = _pages(3)
    with serve(site), session_for(site) as session:
        fetch_all(
            _requests(site),
            session=session,
            on_result=lambda _: threads.append(threading.current_thread()),
            should_stop=never,
        )
    assert threads == [threading.current_thread()] * 3


def test_fetching_waits_for_a_caller_that_lags_behind() -> None:
    site = _pages(80)
    asked: list[int] = []
    with serve(site), session_for(site) as session:

        def keep(_: FetchResult) -> None:
            if not asked:
                time.sleep(0.6)
            asked.append(len(site.paths()))

        fetch_all(_requests(site), session=session, on_result=keep, should_stop=never)
    assert len(asked) == 80
    assert asked[0] <= 40


def test_several_threads_share_a_session_and_its_pace() -> None:
    site, other = _pages(6), _pages(6)
    found: list[FetchResult] = []
    with serve(site), serve(other, host="127.0.0.2"), session_for(site, other) as session:

        def work(part: int) -> None:
            requests = _requests(site, other)[part::3]
            fetch_all(requests, session=session, on_result=found.append, should_stop=never)

        threads = [threading.Thread(target=work, args=(part,)) for part in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [result.status for result in found] == [FetchStatus.OK] * 12
    assert [ask.path for ask in site.log].count("/robots.txt") == 1
    assert site.most_connections == 1


def test_a_document_asked_for_twice_gets_two_results() -> None:
    site = _pages(1)
    found: list[FetchResult] = []
    with serve(site), session_for(site) as session:
        fetch_all(_requests(site) * 2, session=session, on_result=found.append, should_stop=never)
    assert [result.status for result in found] == [FetchStatus.OK] * 2


def test_a_stop_is_asked_before_every_request() -> None:
    site = _pages(5)
    found: list[FetchResult] = []
    with serve(site), session_for(site) as session:
        with pytest.raises(Stopped):
            # robots.txt, tdmrep.json and two pages
            fetch_all(_requests(site), session=session, on_result=found.append, should_stop=stop_after(4))
        assert len(found) == len(site.paths()) == 2
        rest = fetch(session, *_requests(site)[2:])
        assert {result.status for result in rest.values()} == {FetchStatus.OK}


def test_a_stop_does_not_wait_for_a_host_that_stalls_or_asked_for_patience() -> None:
    stalling = Site({"/robots.txt": Reply(b"", 404), "/a": Reply(b"", stall=20)})
    patient = Site({"/robots.txt": Reply(b"", 404), "/a": Reply(b"", 503, {"Retry-After": "60"})})
    stop = threading.Event()
    timer = threading.Timer(0.4, stop.set)
    with serve(stalling), serve(patient), session_for(stalling, patient, clock=WallClock()) as session:
        timer.start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            fetch_all(
                [FetchRequest(url=site.url("/a")) for site in (stalling, patient)],
                session=session,
                on_result=lambda _: None,
                should_stop=stop.is_set,
            )
        assert time.monotonic() - began < 15
        timer.join()


def test_an_error_of_the_caller_ends_the_wave() -> None:
    site = _pages(4)

    def full(_: FetchResult) -> None:
        raise OSError("disk full")

    with serve(site), session_for(site) as session:
        with pytest.raises(OSError, match="disk full"):
            fetch_all(_requests(site), session=session, on_result=full, should_stop=never)
        assert fetch_one(session, site.url("/0")).status is FetchStatus.OK


def test_nothing_to_fetch_asks_nobody() -> None:
    with session_for() as session:
        assert fetch(session) == {}
        assert session.totals.requests == 0


def test_robots_pace_and_connections_survive_from_batch_to_batch() -> None:
    clock = QuickClock()
    site = _pages(4)
    with serve(site), session_for(site, clock=clock, per_host_delay=2.0) as session:
        for request in _requests(site):
            fetch_one(session, request)
    assert [ask.path for ask in site.log] == ["/robots.txt", "/0", TDM_FILE, "/1", "/2", "/3"]
    assert clock.slept == [2.0] * 5
    assert site.most_connections == 1


def test_totals_count_all_http() -> None:
    site = Site({"/a": _PAGE, "/b": [Reply(b"", 503), _PAGE]})
    with serve(site), session_for(site) as session:
        fetch(session, *_requests(site))
        totals = session.totals
    assert totals.requests == len(site.log) == 5
    assert dict(totals.statuses) == {404: 2, 200: 2, 503: 1}
    assert totals.bytes == 2 * len(_PAGE.body) + 2 * len(b"nothing here")


def test_a_wrong_entry_in_allow_private_is_said_at_once() -> None:
    with (
        pytest.raises(ConfigError, match=r"allow_private 127\.0\.0\.1"),
        closing(
            FetchSession(
                user_agent=AGENT,
                allow_private=("127.0.0.1",),
                per_host_delay=0,
                concurrency=1,
                clock=QuickClock(),
                formats=(),
            )
        ),
    ):
        pass
