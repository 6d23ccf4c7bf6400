"""robots.txt as RFC 9309 reads it, and as Google's own cases read it."""

import json
import tarfile

import pytest

from ingest.fetch.robots import RobotsRules, decode_robots, normalise_robots, product_token
from tests.fakes.real_sites import DATA

_DATA = DATA / "url-robots-sitemap"
_PAGE = "https://h.example/docs/page?x=1"

_KNOWN_DIFFERENCES = [
    ("GoogleOnly_AcceptUserAgentUpToFirstSpace", "http://foo.bar/x/y"),  # an agent name with a space in it
    # RFC 9309, 2.2.2 compares decoded octets; these three expect raw and %-forms to differ.
    ("ID_Encoding", "http://foo.bar/foo/bar/%E3%83%84"),
    ("ID_Encoding", "http://foo.bar/foo/bar/baz"),
    ("ID_Encoding", "http://foo.bar/foo/bar/ã\x83\x84"),
]


def _allows(text: str, url: str = _PAGE) -> bool:
    return RobotsRules(text, "sitegraph").allows(url)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("", True),
        ("User-agent: *\nDisallow: /", False),
        ("User-agent: *\nDisallow:", True),
        ("User-agent: *\nDisallow: /docs\nAllow: /docs/page", True),
        ("User-agent: *\nDisallow: /docs/page\nAllow: /docs/page", True),
        ("User-agent: *\nDisallow: /*?x=", False),
        ("User-agent: *\nDisallow: /docs/page$", True),
        ("User-agent: SiteGraph\nDisallow: /\n\nUser-agent: *\nAllow: /", False),
        ("User-agent: sitegraph\nAllow: /\n\nUser-agent: *\nDisallow: /", True),
        ("User-agent: sitegraph/2.0\nDisallow: /", False),
        ("User-agent: site\nDisallow: /", True),
        ("User-agent: sitegraph-images\nDisallow: /", True),
        ("User-agent: other\nNonsense: 1\nUser-agent: sitegraph\nDisallow: /", False),
        ("User-agent: *\nDisallow /docs", False),
        ("User-agent: * # all\nDisallow: /docs # here", False),
        ("Disallow: /", True),
    ],
)
def test_rules_allow_or_disallow(text: str, allowed: bool) -> None:
    assert _allows(text) is allowed


def test_line_ends_of_all_kinds_separate_rules() -> None:
    assert not _allows("User-agent: *\rDisallow: /docs\r\nDisallow: /other\n")


def test_the_crawl_delay_of_our_group_counts() -> None:
    text = "User-agent: sitegraph\nCrawl-delay: 7\n\nUser-agent: *\nCrawl-delay: 90"
    assert RobotsRules(text, "sitegraph").crawl_delay == 7
    assert RobotsRules("User-agent: *\nCrawl-delay: soon", "sitegraph").crawl_delay is None
    assert RobotsRules("User-agent: *\nCrawl-delay: 1e9", "sitegraph").crawl_delay == 1e9


def test_sitemap_lines_count_wherever_they_stand() -> None:
    text = "Sitemap: https://h.example/a.xml\nUser-agent: *\nDisallow: /\nsitemap: /b.xml"
    assert RobotsRules(text, "sitegraph").sitemaps == ("https://h.example/a.xml", "/b.xml")


def test_the_product_token_is_the_first_word() -> None:
    assert product_token("sitegraph/0.1 (+mailto:a@example.org)") == "sitegraph"
    assert product_token("") == ""


def test_another_agents_name_never_matches_by_prefix() -> None:
    assert normalise_robots("User-agent: site\nUser-agent: SITEGRAPH/1", "sitegraph").splitlines() == [
        "user-agent: x-other",
        "user-agent: sitegraph",
    ]


def test_a_cut_file_loses_its_partial_last_line() -> None:
    body = b"User-agent: *\nDisallow: /a\nDisallow: /abc"
    assert decode_robots(body[:-2], max_bytes=len(body) - 2) == "User-agent: *\nDisallow: /a\n"
    assert decode_robots(body, max_bytes=1000).endswith("/abc")


def test_html_gives_no_rules_and_a_byte_order_mark_hides_none() -> None:
    assert decode_robots(b"\xef\xbb\xbf <!DOCTYPE html>\nUser-agent: *\nDisallow: /", max_bytes=1000) == ""
    assert not _allows(decode_robots(b"\xef\xbb\xbfUser-agent: *\nDisallow: /", max_bytes=1000))


@pytest.mark.data
def test_136_of_googles_140_cases_hold_and_the_other_4_are_known() -> None:
    cases = json.loads((_DATA / "google_robots_cases.json").read_text())
    wrong = [
        (case["test"], case["url"])
        for case in cases
        if RobotsRules(case["robots_txt"], product_token(case["user_agent"])).allows(case["url"])
        != case["allowed"]
    ]
    assert len(cases) == 140
    assert sorted(wrong) == sorted(_KNOWN_DIFFERENCES)


@pytest.mark.data
def test_real_robots_files_are_read_without_an_exception() -> None:
    read = 0
    with tarfile.open(_DATA / "protego-4231-real-robots.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                rules = RobotsRules(decode_robots(file.read(), max_bytes=512_000), "sitegraph")
                assert rules.allows(_PAGE) in {True, False}
                assert (rules.crawl_delay or 0) >= 0
                assert all(rules.sitemaps)
                read += 1
    assert read >= 4231
