"""What each answer makes of a document, and what every request says."""

import ssl
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from schemas.fetch import FetchRequest, FetchStatus
from schemas.nodes import Dated, DateOrigin
from tests.fakes.certificate import write_certificate
from tests.fakes.fetching import AGENT, fetch_one, fetch_reply, session_for
from tests.fakes.site_server import Ask, Reply, Site, serve, with_validators

_HTML = b"<html><p>page</p></html>"

_DATE = "Tue, 7 May 2024 09:00 +0100 (not quite RFC 9110)"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, FetchStatus.OK),
        (203, FetchStatus.OK),
        (404, FetchStatus.NOT_FOUND),
        (410, FetchStatus.GONE),
        (204, FetchStatus.FAILED),
        (400, FetchStatus.FAILED),
        (401, FetchStatus.FAILED),
        (403, FetchStatus.FAILED),
        (451, FetchStatus.FAILED),
        (501, FetchStatus.FAILED),
        (505, FetchStatus.FAILED),
    ],
)
def test_a_final_status_is_asked_for_once(status: int, expected: FetchStatus) -> None:
    result = fetch_reply(Reply(_HTML if status != 204 else b"", status))
    assert (result.status, result.http_status, result.statuses) == (expected, status, (status,))
    assert (result.body == _HTML) is (expected is FetchStatus.OK)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_passing_status_is_tried_four_times_in_all(status: int) -> None:
    result = fetch_reply(Reply(b"", status))
    assert (result.status, result.http_status) == (FetchStatus.FAILED, status)
    assert result.statuses == (status,) * 4
    assert result.seconds >= 7


def test_a_document_that_recovers_says_what_it_took() -> None:
    result = fetch_reply([Reply(b"", 503), Reply(b"", 500), Reply(_HTML)])
    assert (result.status, result.body, result.statuses) == (FetchStatus.OK, _HTML, (503, 500, 200))


@pytest.mark.parametrize(
    ("status", "permanent"), [(301, True), (302, False), (303, False), (307, False), (308, True)]
)
def test_a_redirect_is_named_and_not_followed(status: int, permanent: bool) -> None:
    site = Site({"/a": Reply(b"", status, {"Location": "../B?utm_source=x#top"})})
    with serve(site), session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
        assert (result.status, result.permanent) == (FetchStatus.REDIRECTED, permanent)
        assert result.location == site.url("/B")
        assert site.paths() == ["/a"]


def test_a_redirect_to_nowhere_fails() -> None:
    assert fetch_reply(Reply(b"", 302)).status is FetchStatus.FAILED


def test_validators_go_back_verbatim_and_304_keeps_them() -> None:
    site = Site({"/a": with_validators(_HTML, etag='W/"x, y"', modified=_DATE)})
    with serve(site), session_for(site) as session:
        first = fetch_one(session, site.url("/a"))
        assert (first.etag, first.last_modified) == ('W/"x, y"', _DATE)
        asked = FetchRequest(url=first.url, etag=first.etag, last_modified=first.last_modified)
        again = fetch_one(session, asked)
        assert again.status is FetchStatus.NOT_MODIFIED
        assert (again.etag, again.last_modified, again.body) == ('W/"x, y"', _DATE, None)
        assert site.log[-1].headers["if-none-match"] == 'W/"x, y"'
        assert site.log[-1].headers["if-modified-since"] == _DATE


@pytest.mark.parametrize(
    ("modified", "at"),
    [
        (_DATE, "2024-05-07T08:00:00+00:00"),
        ("yesterday", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
    ],
)
def test_a_last_modified_is_a_date_where_it_can_be_read(modified: str, at: str | None) -> None:
    result = fetch_reply(Reply(_HTML, headers={"Last-Modified": modified}))
    assert result.last_modified == modified
    assert result.modified == (Dated(at=at, origin=DateOrigin.HTTP) if at else None)


def test_a_page_that_was_made_for_the_answer_has_no_date() -> None:
    def made_now(_ask: Ask) -> Reply:
        return Reply(_HTML, headers={"Last-Modified": format_datetime(datetime.now(UTC), usegmt=True)})

    assert fetch_reply(made_now).modified is None


def test_a_304_may_bring_a_new_etag_and_keeps_the_date_it_does_not_mention() -> None:
    site = Site({"/a": Reply(b"", 304, {"ETag": '"new"'}, None)})
    with serve(site), session_for(site) as session:
        asked = FetchRequest(url=site.url("/a"), etag='"old"', last_modified=_DATE)
        result = fetch_one(session, asked)
        assert (result.status, result.etag, result.last_modified) == (
            FetchStatus.NOT_MODIFIED,
            '"new"',
            _DATE,
        )


def test_a_304_that_nobody_asked_for_is_asked_once_more() -> None:
    unasked = Reply(b"", 304, {}, None)
    assert fetch_reply([unasked, Reply(_HTML)]).statuses == (304, 200)
    failed = fetch_reply(unasked)
    assert (failed.status, failed.statuses) == (FetchStatus.FAILED, (304, 304))


def test_every_request_carries_the_same_headers_and_no_cookie() -> None:
    cookie = {"Set-Cookie": "id=1; Path=/"}
    site = Site({"/a": Reply(_HTML, headers=cookie), "/b": Reply(_HTML, headers=cookie)})
    with serve(site), session_for(site) as session:
        fetch_one(session, site.url("/a"))
        fetch_one(session, site.url("/b"))
    first, *others = [ask.headers for ask in site.log]
    assert first["user-agent"] == AGENT
    assert first["accept-encoding"] == "gzip, br, zstd"
    assert all(headers == first for headers in others)
    assert {"cookie", "range", "authorization"}.isdisjoint(first)


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert fetch_reply(Reply(_HTML)).status is FetchStatus.OK


def test_parameters_of_the_last_segment_reach_the_server() -> None:
    result = fetch_reply(Reply(_HTML), path="/a;v=1/b;v=2?x=1;y")
    assert result.status is FetchStatus.OK


def test_what_a_page_says_in_its_header_is_kept() -> None:
    site = Site({"/a": Reply(_HTML, headers={"X-Robots-Tag": "noindex, nofollow"}, content_type="TEXT/HTML")})
    with serve(site), session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
    assert (result.x_robots_tag, result.content_type) == ("noindex, nofollow", "TEXT/HTML")


def test_two_headers_for_robots_are_kept_apart() -> None:
    """The name in the first holds to its end; joined by commas it would claim the second."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: otherbot: noindex\r\n"
    more = b"X-Robots-Tag: nofollow\r\nContent-Length: %d\r\n\r\n" % len(_HTML)
    assert fetch_reply(Reply(raw=head + more + _HTML)).x_robots_tag == "otherbot: noindex\nnofollow"


@pytest.mark.parametrize(
    "url",
    ["ftp://h.example/", "files://notes/a.md", "http://H.example/", "http://u:p@h.example/", "nonsense", ""],
)
def test_what_is_no_canonical_web_url_is_refused_unasked(url: str) -> None:
    with session_for() as session:
        result = fetch_one(session, url)
        assert (result.status, result.requests) == (FetchStatus.REFUSED, 0)


def test_a_very_long_url_is_refused_unasked() -> None:
    site = Site()
    with serve(site), session_for(site) as session:
        assert fetch_one(session, site.url("/" + "a" * 2048)).status is FetchStatus.REFUSED
        assert site.paths() == []


def test_a_certificate_that_does_not_verify_is_final(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    site = Site({"/a": Reply(_HTML)})
    with serve(site, tls=tls), session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
        assert (result.status, session.totals.requests) == (FetchStatus.FAILED, 1)
        assert "certificate" in result.reason
        assert site.log == []


@pytest.mark.parametrize(
    ("header", "place"),
    [("0; url=/to", "/to"), ("0;URL='/to'", "/to"), ("9; url=/to", None), ("0; url=/a", None), ("3", None)],
)
def test_a_header_that_leads_on_at_once_is_a_redirect(header: str, place: str | None) -> None:
    site = Site({"/a": Reply(_HTML, headers={"Refresh": header})})
    with serve(site), session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
        assert result.location == (place and site.url(place))
        assert result.status is (FetchStatus.REDIRECTED if place else FetchStatus.OK)


@pytest.mark.parametrize(
    ("named", "taken"),
    [
        ("text/html, text/html; charset=utf-8", "text/html; charset=utf-8"),
        ("text/html; charset=utf-8, text/html", "text/html; charset=utf-8"),
        ("text/plain, text/html", "text/html"),
        ("text/html, */*", "text/html"),
    ],
)
def test_of_several_types_one_is_taken(named: str, taken: str) -> None:
    site = Site({"/a": Reply(_HTML, content_type=named)})
    with serve(site), session_for(site) as session:
        assert fetch_one(session, site.url("/a")).content_type == taken


@pytest.mark.parametrize(
    ("link", "paths"),
    [
        (
            '</de>; rel="alternate"; hreflang="de", </en>; rel=alternate; hreflang=en-GB;q=1',
            ("/de", "/en"),
        ),
        ('</a>; rel="alternate"; hreflang="de", </de>; hreflang=de; rel="next Alternate"', ("/de",)),
        ('</x>; rel="alternate"; hreflang="X-Default", </feed>; rel="alternate"', ()),
        ('</x>; rel="next"; hreflang="de", </y>; hreflang="de"', ()),
        ('<https://elsewhere.example/de>; rel="alternate"; hreflang="de", <mailto:x@y.z>; rel=alternate', ()),
    ],
)
def test_a_header_names_the_forms_of_a_page_in_other_languages(link: str, paths: tuple[str, ...]) -> None:
    site = Site({"/a": Reply(_HTML, headers={"Link": link})})
    with serve(site), session_for(site) as session:
        assert fetch_one(session, site.url("/a")).translations == tuple(map(site.url, paths))


@pytest.mark.parametrize(
    ("link", "said"), [(None, None), ('</de>; rel="alternate"; hreflang="de"', ("/de",)), ("", None)]
)
def test_a_304_takes_back_no_translations_and_may_name_others(
    link: str | None, said: tuple[str, ...] | None
) -> None:
    headers = {} if link is None else {"Link": link}
    page = Reply(_HTML, headers={"ETag": '"1"'})
    site = Site(
        {"/a": lambda ask: Reply(b"", 304, headers, None) if ask.headers.get("if-none-match") else page}
    )
    with serve(site), session_for(site) as session:
        assert fetch_one(session, site.url("/a")).translations == ()
        told = fetch_one(session, FetchRequest(url=site.url("/a"), etag='"1"')).translations
        assert told == (None if said is None else tuple(map(site.url, said)))
