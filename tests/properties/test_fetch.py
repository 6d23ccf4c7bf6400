"""Laws of reading what strangers send."""

import gzip
from contextlib import suppress
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from ingest.fetch.body import build_decoder
from ingest.fetch.faults import FetchFault
from ingest.fetch.politeness import parse_retry_after
from ingest.fetch.robots import RobotsRules, decode_robots
from ingest.fetch.sitemaps import parse_sitemap
from schemas.errors import ParseError

_NOW = datetime(2030, 1, 1, tzinfo=UTC)
_LINE = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: sitegraph",
        "Disallow: /",
        "Allow: /a*b$",
        "Crawl-delay: -1",
        "Sitemap:",
        ":",
        "#",
    ]
)
_XML = st.text(alphabet="<>/!urlsetoc[]&; =\"'?xmD-", max_size=80)


@given(st.text() | st.from_regex(r"\w{3}, \d{1,2} \w{3} \d{1,6} \d\d:\d\d:\d\d [+-]?\w{1,5}"))
def test_a_retry_after_is_a_positive_wait_or_none(value: str) -> None:
    seconds = parse_retry_after(value, now=_NOW)
    assert seconds is None or seconds > 0


@given(st.lists(_LINE | st.text(max_size=40)), st.sampled_from("\n\r"))
def test_any_robots_text_gives_rules(lines: list[str], end: str) -> None:
    rules = RobotsRules(end.join(lines), "sitegraph")
    assert rules.allows("http://h.example/a") in {True, False}
    assert (rules.crawl_delay or 0) >= 0


@given(st.binary(), st.integers(min_value=1, max_value=64))
def test_any_robots_bytes_are_text(body: bytes, cap: int) -> None:
    assert isinstance(decode_robots(body, max_bytes=cap), str)


@given(st.binary() | _XML.map(str.encode) | _XML.map(lambda text: f"<urlset>{text}".encode()))
def test_any_bytes_are_a_sitemap_or_a_parse_error(body: bytes) -> None:
    try:
        sitemap = parse_sitemap(body, url="http://h.example/s.xml", max_bytes=10_000, max_urls=10)
    except ParseError:
        return
    assert len(sitemap.entries) <= 10


@given(st.binary(max_size=3000), st.sampled_from(["gzip", "br", "zstd"]))
def test_any_bytes_decode_or_are_a_fault(data: bytes, coding: str) -> None:
    decoder = build_decoder(coding)
    assert decoder is not None
    with suppress(FetchFault):
        assert all(decoder.feed(data))


@given(st.binary(max_size=3000), st.integers(min_value=0))
def test_a_gzip_body_cut_anywhere_has_not_ended(data: bytes, cut: int) -> None:
    packed = gzip.compress(data)
    decoder = build_decoder("gzip")
    assert decoder is not None
    assert data.startswith(b"".join(decoder.feed(packed[: cut % len(packed)])))
    assert not decoder.ended()
