"""What each answer makes of a document, and which faults are tried again."""

import gzip
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from ingest.fetch.limits import BodyLimit, Limits
from schemas.fetch import FetchRequest, FetchResult, FetchStatus
from tests.fakes.fetching import AGENT, fetch_one, session_for, short_limits
from tests.fakes.site_server import Ask, Reply, Site, serve, with_validators

_HTML = b"<html><p>page</p></html>"
_DATE = "Tue, 7 May 2024 09:00 +0100 (not quite RFC 9110)"


def _fetch(reply: Reply | list[Reply], *, limits: Limits | None = None, path: str = "/a") -> FetchResult:
    site = Site({path: reply})
    with serve(site), session_for(site, limits=limits) as session:
        return fetch_one(session, site.url(path))


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
    result = _fetch(Reply(_HTML if status != 204 else b"", status))
    assert (result.status, result.http_status, result.statuses) == (expected, status, (status,))
    assert (result.body == _HTML) is (expected is FetchStatus.OK)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_passing_status_is_tried_four_times_in_all(status: int) -> None:
    result = _fetch(Reply(b"", status))
    assert (result.status, result.http_status) == (FetchStatus.FAILED, status)
    assert result.statuses == (status,) * 4
    assert result.seconds >= 7


def test_a_document_that_recovers_says_what_it_took() -> None:
    result = _fetch([Reply(b"", 503), Reply(b"", 500), Reply(_HTML)])
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
    assert _fetch(Reply(b"", 302)).status is FetchStatus.FAILED


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
    assert _fetch([unasked, Reply(_HTML)]).statuses == (304, 200)
    failed = _fetch(unasked)
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
    assert _fetch(Reply(_HTML)).status is FetchStatus.OK


def test_parameters_of_the_last_segment_reach_the_server() -> None:
    result = _fetch(Reply(_HTML), path="/a;v=1/b;v=2?x=1;y")
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
    assert _fetch(Reply(raw=head + more + _HTML)).x_robots_tag == "otherbot: noindex\nnofollow"


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


@pytest.mark.parametrize(
    ("kind", "body", "taken"),
    [
        ("text/html", b"<p>x", True),
        ("application/xhtml+xml", b"<html/>", True),
        ("text/markdown; charset=utf-8", b"# x", True),
        ("text/plain", b"x", True),
        ("application/pdf", b"%PDF-1.7\n%%EOF", True),
        ("application/octet-stream", b"junk %PDF-1.7\n%%EOF", True),
        ("text/html", b"%PDF-1.7\n%%EOF", True),
        (None, b"<p>x", True),
        ("application/xml", b"<?xml version='1.0'?><html xmlns='x'/>", True),
        ("text/html", "é".encode("utf-16"), True),
        ("application/xml", b"<rss/>", False),
        ("text/html", b"\x89PNG\r\n\x1a\n", False),
        ("text/html", b"PK\x03\x04", False),
        ("application/octet-stream", b"\x7fELF", False),
        ("text/plain", b"a\0b", False),
        ("image/png", b"<p>x", False),
        ("text/css", b"a{}", False),
        ("application/javascript", b"1", False),
        ("application/zip", b"PK", False),
        ("application/json", b"{}", False),
    ],
)
def test_a_document_is_known_by_its_name_and_its_bytes(kind: str | None, body: bytes, taken: bool) -> None:
    result = _fetch(Reply(body, content_type=kind))
    assert result.status is (FetchStatus.OK if taken else FetchStatus.UNSUPPORTED)
    assert taken or "unsupported type" in result.reason


def test_an_unsupported_type_is_known_before_its_body_and_its_validators_are_kept() -> None:
    archive = Reply(b"x" * 1_000_000, headers={"ETag": '"z1"'}, content_type="application/zip")
    result = _fetch(archive)
    assert (result.status, result.bytes, result.requests) == (FetchStatus.UNSUPPORTED, 0, 1)
    assert (result.http_status, result.etag, result.content_type) == (200, '"z1"', "application/zip")


def test_a_coding_nobody_asked_for_is_refused_and_no_unsupported_type() -> None:
    result = _fetch(Reply(_HTML, headers={"Content-Encoding": "compress"}))
    assert (result.status, result.requests) == (FetchStatus.REFUSED, 1)
    assert "content coding" in result.reason


def test_a_pdf_may_be_larger_than_a_page() -> None:
    limits = Limits(html=BodyLimit(max_bytes=2000, seconds=60), pdf=BodyLimit(max_bytes=5000, seconds=60))
    large = b"%PDF-1.7 " + b"x" * 3000
    assert _fetch(Reply(large, content_type="application/pdf"), limits=limits).status is FetchStatus.OK
    assert _fetch(Reply(b"y" * 3009), limits=limits).status is FetchStatus.REFUSED
    assert (
        _fetch(Reply(large * 2, content_type="application/pdf"), limits=limits).status is FetchStatus.REFUSED
    )
    packed = gzip.compress(b"y" * 3009)
    assert (
        _fetch(Reply(packed, headers={"Content-Encoding": "gzip"}), limits=limits).status
        is FetchStatus.REFUSED
    )


def test_headers_over_64_kib_are_refused() -> None:
    result = _fetch(Reply(_HTML, headers={"X-Long": "a" * 65_000, "X-More": "a" * 2000}))
    assert (result.status, result.requests) == (FetchStatus.REFUSED, 1)
    assert "headers" in result.reason


@pytest.mark.parametrize(
    "reply",
    [
        Reply(_HTML * 100, reset_after=500),
        Reply(_HTML, headers={"Content-Length": "5000"}, reset_after=24),
        Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<html>"),
        Reply(
            raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<html"
        ),
        Reply(raw=b"SSH-2.0-not-http\r\n"),
        Reply(raw=b""),
    ],
)
def test_an_answer_that_breaks_off_is_tried_again_and_never_a_document(reply: Reply) -> None:
    result = _fetch(reply)
    assert (result.status, result.requests, result.body) == (FetchStatus.FAILED, 4, None)
    assert _fetch([reply, reply, Reply(_HTML)]).status is FetchStatus.OK


def test_a_body_ended_by_the_connection_alone_needs_proof() -> None:
    assert _fetch(Reply(_HTML, length=False)).requests == 1
    assert _fetch(Reply(b"%PDF-1.7 \n%%EOF\n", length=False)).requests == 1
    same = _fetch(Reply(b"<p>no end tag", length=False))
    assert (same.status, same.requests) == (FetchStatus.OK, 2)

    def another(ask: Ask) -> Reply:
        return Reply(str(ask.at).encode(), length=False)

    site = Site({"/a": another})
    with serve(site), session_for(site) as session:
        assert fetch_one(session, site.url("/a")).status is FetchStatus.FAILED


def test_a_server_that_stalls_is_a_timeout_tried_four_times() -> None:
    result = _fetch(Reply(_HTML, stall=20), limits=short_limits(0.2))
    assert (result.status, result.requests) == (FetchStatus.FAILED, 4)


def test_a_slow_drip_meets_the_total_deadline_and_is_tried_once_more_only() -> None:
    limits = Limits(read=5.0, html=BodyLimit(max_bytes=5_000_000, seconds=0.5))
    result = _fetch(Reply(_HTML * 100, drip=0.05), limits=limits)
    assert (result.status, result.requests) == (FetchStatus.FAILED, 2)
    assert "deadline" in result.reason


def test_a_pdf_has_more_time_than_a_page() -> None:
    limits = Limits(html=BodyLimit(max_bytes=5000, seconds=0.4), pdf=BodyLimit(max_bytes=5000, seconds=20))
    head = b"%PDF-1.7 " + b"x" * 1024
    slow = Reply(head + b"%%EOF", content_type="application/pdf", drip=0.001)
    assert _fetch(slow, limits=limits).status is FetchStatus.OK


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificate with openssl")
def test_a_certificate_that_does_not_verify_is_final(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    made = ["-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "2"]
    subprocess.run(
        ["openssl", "req", *made, "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    site = Site({"/a": Reply(_HTML)})
    with serve(site, tls=tls), session_for(site) as session:
        result = fetch_one(session, site.url("/a"))
        assert (result.status, session.totals.requests) == (FetchStatus.FAILED, 1)
        assert "certificate" in result.reason
        assert site.log == []


def test_early_hints_before_an_answer_are_passed_over() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 50
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 24\r\n\r\n"
    assert _fetch(Reply(raw=hints + answer + _HTML)).body == _HTML


def test_a_closed_port_opens_the_circuit_after_five_failures() -> None:
    with serve(Site()) as site:
        gone = site.url("/")
    with session_for(site) as session:
        first, second = fetch_one(session, gone), fetch_one(session, gone)
        assert {first.status, second.status} == {FetchStatus.FAILED}
        assert "no connection" in first.reason
        assert session.totals.requests == 4


def test_five_failing_pages_in_a_row_leave_the_rest_of_the_host_alone() -> None:
    site = Site({f"/{n}": Reply(b"", 500) for n in range(8)})
    with serve(site), session_for(site) as session:
        results = [fetch_one(session, site.url(f"/{n}")) for n in range(8)]
        assert {result.status for result in results} == {FetchStatus.FAILED}
        assert [result.requests for result in results] == [4] * 5 + [0] * 3
        assert "left alone" in results[-1].reason
