"""What each answer to robots.txt means for the pages behind it."""

import pytest

from ingest.fetch.media import FetchLimits
from ingest.uses import TDM_FILE
from schemas.fetch import FetchStatus
from tests.fakes.fetch_clock import QuickClock, WallClock
from tests.fakes.fetching import fetch, fetch_one, session_for, short_limits
from tests.fakes.site_server import Ask, Reply, Site, serve

_PAGE = Reply(b"<p>page</p>")
_FORBID = b"User-agent: *\nDisallow: /private\n"


def _text(body: bytes, status: int = 200) -> Reply:
    return Reply(body, status, content_type="text/plain")


@pytest.mark.parametrize(
    "robots",
    [
        _text(b"", 404),
        _text(b"", 403),
        _text(b"", 401),
        _text(b"", 410),
        _text(b"", 451),
        _text(_FORBID, 400),
        _text(b"", 204),
        Reply(b"", 302),  # leads nowhere
        _text(b"#" + b"x" * 512_000 + b"\n" + _FORBID),  # beyond what is read
        Reply(b"<!doctype html><p>User-agent: *\nDisallow: /</p>"),
        _text(_FORBID.decode().encode("utf-16")),
    ],
)
def test_an_answer_without_rules_allows_everything(robots: Reply) -> None:
    with serve(Site({"/robots.txt": robots, "/private": _PAGE})) as site, session_for(site) as session:
        assert fetch_one(session, site.url("/private")).status is FetchStatus.OK


@pytest.mark.parametrize(
    "robots",
    [
        _text(_FORBID),
        Reply(b"\xef\xbb\xbf" + _FORBID, content_type="image/png"),
        _text(_FORBID + b"# " + b"x" * 2_000_000),
        _text(b"#" + b"x" * (511_998 - len(_FORBID)) + b"\n" + _FORBID + b"# more"),
        [_text(b"", 503), _text(_FORBID)],
    ],
)
def test_rules_keep_us_from_what_they_name_and_nothing_else(robots: Reply | list[Reply]) -> None:
    site = Site({"/robots.txt": robots, "/private": _PAGE, "/open": _PAGE})
    with serve(site), session_for(site) as session:
        found = fetch(session, site.url("/private"), site.url("/open"))
        assert found[site.url("/private")].status is FetchStatus.DISALLOWED
        assert found[site.url("/open")].status is FetchStatus.OK
        assert site.paths() == ["/open"]


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_a_failing_robots_file_forbids_the_whole_site(status: int) -> None:
    with serve(Site({"/robots.txt": _text(b"", status), "/a": _PAGE})) as site, session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
        assert result.status is FetchStatus.FAILED
        assert "robots.txt" in result.reason
        assert site.paths() == []


def test_a_robots_file_that_never_comes_forbids_the_whole_site() -> None:
    slow = Reply(_FORBID, stall=30)
    with (
        serve(Site({"/robots.txt": slow, "/a": _PAGE})) as site,
        session_for(site, limits=short_limits(0.2)) as session,
    ):
        result = fetch_one(session, site.url("/a"))
        assert (result.status, site.paths()) == (FetchStatus.FAILED, [])


def _chain(length: int) -> dict[str, Reply]:
    hops = {f"/r{n}": Reply(b"", 301, {"Location": f"/r{n + 1}"}) for n in range(1, length)}
    return {"/robots.txt": Reply(b"", 301, {"Location": "/r1"}), **hops, f"/r{length}": _text(_FORBID)}


@pytest.mark.parametrize(("hops", "status"), [(5, FetchStatus.DISALLOWED), (6, FetchStatus.OK)])
def test_five_redirects_of_robots_are_followed_and_six_are_none(hops: int, status: FetchStatus) -> None:
    with serve(Site({**_chain(hops), "/private": _PAGE})) as site, session_for(site) as session:
        assert fetch_one(session, site.url("/private")).status is status


def test_rules_that_another_host_gives_count_for_the_host_that_was_asked() -> None:
    with serve(Site({"/rules": _text(_FORBID)}), host="127.0.0.2") as other:
        moved = Reply(b"", 302, {"Location": other.url("/rules")})
        with (
            serve(Site({"/robots.txt": moved, "/private": _PAGE})) as site,
            session_for(site, other) as session,
        ):
            assert fetch_one(session, site.url("/private")).status is FetchStatus.DISALLOWED


def test_rules_that_flip_while_the_crawl_goes_on_count_from_their_next_reading() -> None:
    clock = QuickClock()

    def a_day_passes(_: Ask) -> Reply:
        clock.seconds += 90_000
        return _PAGE

    site = Site({"/robots.txt": [_text(b""), _text(_FORBID)], "/a": a_day_passes, "/private": _PAGE})
    with serve(site), session_for(site, clock=clock) as session:
        found = fetch(session, site.url("/a"), site.url("/private"))
        assert found[site.url("/private")].status is FetchStatus.DISALLOWED
        assert [ask.path for ask in site.log] == ["/robots.txt", "/a", "/robots.txt", TDM_FILE]


def test_a_crawl_delay_is_obeyed_even_without_a_delay_of_our_own() -> None:
    robots = _text(b"User-agent: *\nCrawl-delay: 0.4\n")
    with (
        serve(Site({"/robots.txt": robots, "/a": _PAGE, "/b": _PAGE})) as site,
        session_for(site, clock=WallClock(), concurrency=2) as session,
    ):
        fetch(session, site.url("/a"), site.url("/b"))
        moments = [ask.at for ask in site.log if ask.path != "/robots.txt"]
        assert moments[1] - moments[0] >= 0.4


def test_a_crawl_delay_of_years_parks_the_host_and_says_so() -> None:
    robots = _text(b"User-agent: *\nCrawl-delay: 1e9\n")
    with serve(Site({"/robots.txt": robots, "/a": _PAGE})) as site, session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
        assert result.status is FetchStatus.FAILED
        assert "1e+09 s between requests" in result.reason
        assert site.paths() == []


def test_a_site_that_is_down_is_asked_for_its_rules_again_once_the_circuit_closes() -> None:
    clock = QuickClock()
    site = Site({"/robots.txt": [*[_text(b"", 500)] * 4, _text(b"")], "/a": _PAGE})
    with serve(site), session_for(site, clock=clock, limits=FetchLimits()) as session:
        assert fetch_one(session, site.url("/a")).status is FetchStatus.FAILED
        assert fetch_one(session, site.url("/a")).status is FetchStatus.FAILED
        clock.seconds += 901
        assert fetch_one(session, site.url("/a")).status is FetchStatus.OK
