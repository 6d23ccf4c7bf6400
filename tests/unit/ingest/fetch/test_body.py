"""One body: under its caps of size and time, and whole or not at all."""

import gzip

import pytest

from ingest.fetch.media import BodyLimit, FetchLimits
from schemas.fetch import FetchStatus
from tests.fakes.fetching import fetch_one, fetch_reply, session_for
from tests.fakes.site_server import Ask, Reply, Site, serve

_HTML = b"<html><p>page</p></html>"


def test_a_coding_nobody_asked_for_is_refused_and_no_unsupported_type() -> None:
    result = fetch_reply(Reply(_HTML, headers={"Content-Encoding": "compress"}))
    assert (result.status, result.requests) == (FetchStatus.REFUSED, 1)
    assert "content coding" in result.reason


def test_a_pdf_may_be_larger_than_a_page() -> None:
    limits = FetchLimits(
        html=BodyLimit(max_bytes=2000, seconds=60), pdf=BodyLimit(max_bytes=5000, seconds=60)
    )
    large = b"%PDF-1.7 " + b"x" * 3000
    assert fetch_reply(Reply(large, content_type="application/pdf"), limits=limits).status is FetchStatus.OK
    assert fetch_reply(Reply(b"y" * 3009), limits=limits).status is FetchStatus.REFUSED
    assert (
        fetch_reply(Reply(large * 2, content_type="application/pdf"), limits=limits).status
        is FetchStatus.REFUSED
    )
    packed = gzip.compress(b"y" * 3009)
    assert (
        fetch_reply(Reply(packed, headers={"Content-Encoding": "gzip"}), limits=limits).status
        is FetchStatus.REFUSED
    )


def test_headers_over_64_kib_are_refused() -> None:
    result = fetch_reply(Reply(_HTML, headers={"X-Long": "a" * 65_000, "X-More": "a" * 2000}))
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
    result = fetch_reply(reply)
    assert (result.status, result.requests, result.body) == (FetchStatus.FAILED, 4, None)
    assert fetch_reply([reply, reply, Reply(_HTML)]).status is FetchStatus.OK


def test_a_body_ended_by_the_connection_alone_needs_proof() -> None:
    assert fetch_reply(Reply(_HTML, length=False)).requests == 1
    assert fetch_reply(Reply(b"%PDF-1.7 \n%%EOF\n", length=False)).requests == 1
    same = fetch_reply(Reply(b"<p>no end tag", length=False))
    assert (same.status, same.requests) == (FetchStatus.OK, 2)

    def another(ask: Ask) -> Reply:
        return Reply(str(ask.at).encode(), length=False)

    site = Site({"/a": another})
    with serve(site), session_for(site) as session:
        assert fetch_one(session, site.url("/a")).status is FetchStatus.FAILED


def test_a_pdf_has_more_time_than_a_page() -> None:
    limits = FetchLimits(
        html=BodyLimit(max_bytes=5000, seconds=0.4), pdf=BodyLimit(max_bytes=5000, seconds=20)
    )
    head = b"%PDF-1.7 " + b"x" * 1024
    slow = Reply(head + b"%%EOF", content_type="application/pdf", drip=0.001)
    assert fetch_reply(slow, limits=limits).status is FetchStatus.OK


def test_early_hints_before_an_answer_are_passed_over() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 50
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 24\r\n\r\n"
    assert fetch_reply(Reply(raw=hints + answer + _HTML)).body == _HTML
