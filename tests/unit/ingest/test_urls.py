"""URL identity, case by case, and against the WHATWG's own test data."""

import json
from typing import Any

import pytest

from ingest.urls import (
    canonical_url,
    file_path,
    file_url,
    folder_of,
    host_port,
    owned_site,
    registrable_domain,
    split_fragment,
)
from tests.fakes.real_sites import DATA

_DATA = DATA / "url-robots-sitemap"
_BASE = "https://docs.example.org/guide/start.html?v=2"
_FILE = "files://notes/guide/start.md"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("HTTPS://Docs.Example.ORG:443/A/../b", "https://docs.example.org/b"),
        ("next.html#part", "https://docs.example.org/guide/next.html"),
        ("?v=3", "https://docs.example.org/guide/start.html?v=3"),
        ("", _BASE),
        ("//other.example/x", "https://other.example/x"),
        ("Case/Kept/", "https://docs.example.org/guide/Case/Kept/"),
        ("/%7euser/%c3%a9%2f", "https://docs.example.org/~user/%C3%A9%2F"),
        ("/%%34%31", "https://docs.example.org/%%341"),
        ("/p?b=1&utm_source=x&a=2&GCLID=7", "https://docs.example.org/p?b=1&a=2"),
        ("/p?utm_medium=mail", "https://docs.example.org/p"),
        ("/p?", "https://docs.example.org/p?"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ],
)
def test_a_link_on_a_web_page_gets_one_text(href: str, expected: str) -> None:
    assert canonical_url(href, _BASE) == expected


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/app/#/guide", "https://docs.example.org/app/#/guide"),
        ("/app/#!/guide", "https://docs.example.org/app/#!/guide"),
        ("#/a b/%7eC?id=2&utm_source=x", f"{_BASE}#/a%20b/~C?id=2&utm_source=x"),
        ("/app/#/", "https://docs.example.org/app/"),
        ("/app/#!", "https://docs.example.org/app/"),
        ("/app/#!/", "https://docs.example.org/app/"),
        ("/app/#part", "https://docs.example.org/app/"),
        ("/app/#%2Fguide", "https://docs.example.org/app/"),
        ("?v=3", "https://docs.example.org/guide/start.html?v=3"),
        ("/#/" + "a" * 2048, None),
    ],
)
def test_a_route_is_part_of_an_address_where_scripts_read_it(href: str, expected: str | None) -> None:
    base = f"{_BASE}#/before"
    assert canonical_url(href, base, routed=True) == expected
    page = canonical_url(href, base)
    assert page is None or "#" not in page


@pytest.mark.parametrize(
    "href",
    [
        "http://user:secret@example.org/",
        "http://user@example.org/",
        "mailto:a@example.org",
        "javascript:void(0)",
        "ftp://example.org/x",
        "file:///etc/passwd",
        "files://notes/a.md",
        "http://[::1",
        "https://xn--/",
        "/" + "a" * 2048,
        "http://a.xn--pokxncvks/",
    ],
)
def test_what_a_web_page_may_not_name_has_no_url(href: str) -> None:
    assert canonical_url(href, _BASE) is None


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("../b.md#x", "files://notes/b.md"),
        ("/top.md", "files://notes/top.md"),
        ("..\\b.md", "files://notes/b.md"),
        ("a b%28c%29.md?raw=1", "files://notes/guide/a%20b(c).md"),
        ("../../../../b.md", "files://notes/b.md"),
        ("https://example.org/x#y", "https://example.org/x"),
    ],
)
def test_a_link_in_a_local_file_resolves_like_one_on_a_page(href: str, expected: str) -> None:
    assert canonical_url(href, _FILE) == expected


@pytest.mark.parametrize(
    "href", ["//other/x.md", "files://other/x.md", "..%2f..%2fetc/passwd", "a%00.md", "file:///etc/passwd"]
)
def test_a_local_file_reaches_no_other_source_and_not_above_its_root(href: str) -> None:
    assert canonical_url(href, _FILE) is None


def test_a_source_name_with_a_space_makes_a_url() -> None:
    url = file_url("my notes", "a/b ü#1?.md")
    assert canonical_url(url) == url
    assert file_path(url) == "a/b ü#1?.md"
    assert canonical_url("c.md", url) == "files://my%20notes/a/c.md"


def test_a_fragment_is_decoded_and_an_empty_one_is_none() -> None:
    assert split_fragment("http://h/a#b%20c") == ("http://h/a", "b c")
    assert split_fragment("http://h/a#") == ("http://h/a", None)
    assert split_fragment("http://h/a") == ("http://h/a", None)


def test_a_slash_in_a_query_is_no_folder() -> None:
    assert folder_of("http://h/a/b?x=/y/z") == "http://h/a/"
    assert folder_of("http://h/") == "http://h/"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h.example/a:b", ("h.example", 80)),
        ("https://h.example?x", ("h.example", 443)),
        ("http://127.0.0.1:8000/", ("127.0.0.1", 8000)),
        ("http://[::1]:8000/", ("::1", 8000)),
        ("http://[::1]/", ("::1", 80)),
    ],
)
def test_host_and_port_come_from_the_authority(url: str, expected: tuple[str, int]) -> None:
    assert host_port(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.example.co.uk/x", "example.co.uk"),
        ("https://someone.github.io/", "someone.github.io"),
        ("http://www.xn--bcher-kva.de/", "xn--bcher-kva.de"),
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://[::1]:8000/", "::1"),
        ("http://localhost:3000/", "localhost"),
        ("http://wiki.corp.internal/", "wiki.corp.internal"),
    ],
)
def test_the_registrable_domain_is_what_one_owner_registered(url: str, expected: str) -> None:
    assert registrable_domain(url) == expected


def _web_cases() -> list[dict[str, Any]]:
    cases = [c for c in json.loads((_DATA / "urltestdata.json").read_text()) if isinstance(c, dict)]
    return [case for case in cases if _is_web(case)]


def _is_web(case: dict[str, Any]) -> bool:
    url: str = case.get("href") or case["base"] or case["input"]
    return url.strip().lower().startswith(("http:", "https:"))


def _wrong(case: dict[str, Any]) -> bool:
    found = canonical_url(case["input"], case["base"])
    if case.get("failure") or case["username"] or case["password"]:
        return found is not None
    return found != canonical_url(case["href"]) or found is None


@pytest.mark.data
def test_all_http_cases_of_the_whatwg_data_are_read_as_browsers_read_them() -> None:
    cases = _web_cases()
    assert len(cases) == 423
    assert [case["input"] for case in cases if _wrong(case)] == []


def test_a_web_url_may_have_2048_characters_after_it_was_made_canonical() -> None:
    base = "https://docs.example.org/"
    longest = base + "a" * (2048 - len(base))
    assert canonical_url(longest) == longest
    assert canonical_url(f"{longest}?utm_source=x#part") == longest
    assert canonical_url(f"{longest}a") is None
    assert canonical_url("é" * 400, base) is None


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://docs.example.co.uk:8443/a", "example.co.uk"),
        ("https://alice.github.io/", "alice.github.io"),
        ("http://localhost:8000/", "localhost:8000"),
        ("http://wiki.internal/", "wiki.internal:80"),
        ("https://[::1]/", "::1:443"),
    ],
)
def test_what_nobody_registered_is_owned_host_and_port_at_a_time(url: str, site: str) -> None:
    assert owned_site(url) == site
