"""The pace of a host that several sessions ask."""

import threading
from itertools import pairwise

import pytest

from ingest.fetch.browser import Browser
from ingest.fetch.client import FetchSession, host_key
from ingest.fetch.politeness import SharedTurns
from schemas.fetch import HostTurn
from tests.fakes.fetch_clock import WallClock
from tests.fakes.fetching import fetch, session_for
from tests.fakes.site_server import Reply, Site, serve

_PAGE = Reply(b"<p>page</p>")


class CountedTurns:
    """Turns of one session that is alone; `calls` lists what was asked of them."""

    def __init__(self, seconds: float, *, delay: float = 0.0) -> None:
        self.seconds, self.delay = seconds, delay
        self.calls: list[str] = []

    def take(self, host: str, *, holder: str, delay: float) -> HostTurn:
        self.calls.append(f"take {host} {delay:g}")
        return HostTurn(wait=0.0, seconds=self.seconds, delay=self.delay, others=int(self.delay > 0))

    def prolong(self, host: str, *, holder: str) -> None:
        self.calls.append("prolong")

    def release(self, host: str, *, holder: str, since: float, pause: float) -> None:
        assert since >= 0
        assert pause >= 0
        self.calls.append("release")

    def leave(self, holder: str) -> None:
        self.calls.append(f"leave {holder}")


def _shared(turns: CountedTurns) -> SharedTurns:
    return SharedTurns(turns=turns, holder="me")


def test_a_run_that_is_alone_asks_for_its_turn_once_however_many_pages_it_fetches() -> None:
    turns, site = CountedTurns(60.0), Site({f"/{n}": _PAGE for n in range(40)})
    with (
        serve(site),
        session_for(site, clock=WallClock(), per_host_delay=0.001, shared=_shared(turns)) as session,
    ):
        fetch(session, *[site.url(f"/{n}") for n in range(40)])
    name = host_key(site.url("/"))
    assert turns.calls == [f"take {name} 0.001", "release", "leave me"]


class _Hanging(Browser):
    """A browser that cannot be closed."""

    async def aclose(self) -> None:
        raise RuntimeError("its process does not answer")


def test_where_the_browser_cannot_be_closed_all_else_is() -> None:
    turns, site = CountedTurns(60.0), Site({"/a.md": Reply(b"# A", content_type="text/markdown")})
    browser = _Hanging(executable="none", sandbox=True, user_agent="none")
    before = set(threading.enumerate())
    with serve(site):
        shared = session_for(
            site, clock=WallClock(), per_host_delay=0.001, shared=_shared(turns), browser=browser
        )
        with pytest.raises(RuntimeError, match="does not answer"), shared as session:
            fetch(session, site.url("/a.md"))
        assert turns.calls[1:] == ["release", "leave me"]
    assert "sitegraph-fetch" not in {thread.name for thread in set(threading.enumerate()) - before}


def test_a_host_that_is_our_own_has_no_turns() -> None:
    turns, site = CountedTurns(60.0), Site({"/a": _PAGE})
    with serve(site), session_for(site, clock=WallClock(), shared=_shared(turns)) as session:
        fetch(session, site.url("/a"))
    assert turns.calls == ["leave me"]


def test_a_crawl_delay_makes_turns_of_a_host_that_has_none_by_itself() -> None:
    robots = Reply(b"User-agent: *\nCrawl-delay: 0.2\n", content_type="text/plain")
    turns, site = CountedTurns(60.0), Site({"/robots.txt": robots, "/a": _PAGE})
    with serve(site), session_for(site, clock=WallClock(), shared=_shared(turns)) as session:
        fetch(session, site.url("/a"))
    assert turns.calls[0] == f"take {host_key(site.url('/'))} 0.2"


def test_the_delay_of_another_run_is_kept_where_it_is_longer() -> None:
    turns, site = CountedTurns(60.0, delay=0.3), Site({f"/{n}": _PAGE for n in range(3)})
    with (
        serve(site),
        session_for(site, clock=WallClock(), per_host_delay=0.01, shared=_shared(turns)) as session,
    ):
        fetch(session, *[site.url(f"/{n}") for n in range(3)])
    moments = [ask.at for ask in site.log]
    assert len(moments) == 5
    assert all(late - early >= 0.3 for early, late in pairwise(moments))


class OneTurn:
    """A turn for whichever of two sessions asks first; the other waits until it is given back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder = ""
        self.order: list[str] = []

    def take(self, host: str, *, holder: str, delay: float) -> HostTurn:
        with self._lock:
            if self._holder not in ("", holder):
                return HostTurn(wait=0.02, others=1)
            self._holder = holder
            self.order.append(holder)
            return HostTurn(wait=0.0, seconds=0.2)

    def prolong(self, host: str, *, holder: str) -> None: ...

    def release(self, host: str, *, holder: str, since: float, pause: float) -> None:
        with self._lock:
            assert self._holder == holder
            self._holder = ""

    def leave(self, holder: str) -> None: ...


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_turn_is_given_back_when_its_time_is_over_and_nothing_is_under_way(concurrency: int) -> None:
    turns, pages = OneTurn(), 12
    site = Site({f"/{n}": Reply(b"<p>page</p>", stall=0.05) for n in range(pages)})

    def crawl(session: FetchSession) -> None:
        fetch(session, *[site.url(f"/{n}") for n in range(pages)])

    with (
        serve(site),
        session_for(
            site,
            clock=WallClock(),
            per_host_delay=0.01,
            concurrency=concurrency,
            shared=SharedTurns(turns=turns, holder="a"),
        ) as a,
        session_for(
            site,
            clock=WallClock(),
            per_host_delay=0.01,
            concurrency=concurrency,
            shared=SharedTurns(turns=turns, holder="b"),
        ) as b,
    ):
        threads = [threading.Thread(target=crawl, args=(one,)) for one in (a, b)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert len(site.paths()) == 2 * pages
    assert set(turns.order) == {"a", "b"}
    assert site.most_connections <= 2 * concurrency
