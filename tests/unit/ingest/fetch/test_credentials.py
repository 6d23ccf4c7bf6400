"""A login reaches the site it is for, and nobody else; nothing shows it."""

import gc
import logging
from collections.abc import Callable
from typing import Any

import pytest

from ingest.fetch.proxies import Credentials, build_credentials, is_sendable, name_refusal
from ingest.uses import TDM_FILE
from schemas.fetch import FetchStatus
from tests.fakes.fetching import fetch_one, session_for
from tests.fakes.site_server import Reply, Site, serve

_SECRET = "s3cret-0f-the-h0use"
_PAGE = Reply(b"<html><p>page</p></html>")

Names = dict[str, Callable[[], list[str]]]


def _login(*seeds: str) -> Credentials:
    return build_credentials({"Authorization": f"Bearer {_SECRET}", "X-Api-Key": _SECRET}, seeds=seeds)


def _told(site: Site) -> dict[str, bool]:
    """Host and path of every request, and whether it carried the secret."""
    return {
        ask.headers["host"].partition(":")[0] + ask.path: _SECRET in "".join(ask.headers.values())
        for ask in site.log
    }


@pytest.mark.parametrize(
    ("url", "carried"),
    [
        ("https://docs.example.com/a", True),
        ("https://www.example.com/b?x=1", True),
        ("https://example.com:8443/", True),
        ("http://docs.example.com/a", False),  # what https guards is not said in the clear
        ("https://example.org/", False),
        ("https://docs.example.com.evil.org/", False),
        ("https://notexample.com/", False),
        ("https://93.184.215.14/", False),
    ],
)
def test_a_domain_is_told_whole_and_nobody_else(url: str, carried: bool) -> None:
    assert bool(_login("https://docs.example.com/guide/").headers_for(url)) is carried


@pytest.mark.parametrize(
    ("seed", "url", "carried"),
    [
        ("http://10.0.0.7:8080/", "http://10.0.0.7:8080/a", True),
        ("http://10.0.0.7:8080/", "http://10.0.0.7:8081/a", False),
        ("http://10.0.0.7:8080/", "http://10.0.0.8:8080/a", False),
        ("http://localhost:8080/", "http://localhost:80/", False),
        ("http://[::1]:8080/", "http://[::1]:8080/a", True),
        ("http://wiki.internal/", "http://wiki.internal/a", True),
        ("http://wiki.internal/", "http://mail.internal/", False),
        ("https://alice.github.io/", "https://bob.github.io/", False),
        ("http://docs.example.com/", "https://docs.example.com/", True),
    ],
)
def test_what_has_no_registered_owner_is_told_exactly(seed: str, url: str, carried: bool) -> None:
    assert bool(_login(seed).headers_for(url)) is carried


def test_pages_robots_and_sitemaps_of_the_site_get_the_header_and_other_sites_do_not(
    resolver: Names,
) -> None:
    resolver["docs.example.com"] = resolver["www.example.com"] = lambda: ["127.0.0.1"]
    resolver["cdn.example.org"] = lambda: ["127.0.0.1"]
    site = Site({"/": _PAGE, "/b": _PAGE})
    with serve(site):
        port = site.address.rpartition(":")[2]
        docs, www, cdn = (
            f"http://{name}:{port}" for name in ("docs.example.com", "www.example.com", "cdn.example.org")
        )
        listed = f"Sitemap: {docs}/own.xml\nSitemap: {cdn}/theirs.xml\nSitemap: {docs}/led.xml".encode()
        site.pages["/robots.txt"] = Reply(listed, content_type="text/plain")
        site.pages["/own.xml"] = site.pages["/theirs.xml"] = Reply(b"<urlset/>", content_type="text/xml")
        site.pages["/led.xml"] = Reply(b"", 302, {"Location": f"{cdn}/led-away.xml"})
        site.pages["/led-away.xml"] = Reply(b"<urlset/>", content_type="text/xml")
        with session_for(site, credentials=_login(f"{docs}/")) as session:
            session.sitemaps((f"{docs}/",))
            for url in (f"{docs}/", f"{www}/b", f"{cdn}/b"):
                assert fetch_one(session, url).status is FetchStatus.OK
        assert _told(site) == {
            "docs.example.com/robots.txt": True,
            "docs.example.com/own.xml": True,
            "cdn.example.org/theirs.xml": False,
            "docs.example.com/led.xml": True,
            "cdn.example.org/led-away.xml": False,
            "docs.example.com/": True,
            "www.example.com/robots.txt": True,
            "www.example.com/b": True,
            "cdn.example.org/robots.txt": False,
            "cdn.example.org/b": False,
            "docs.example.com/sitemap.xml": True,
            "docs.example.com/llms.txt": True,
            f"docs.example.com{TDM_FILE}": True,
            f"www.example.com{TDM_FILE}": True,
            f"cdn.example.org{TDM_FILE}": False,
            "docs.example.com/objects.inv": True,
        }


def test_robots_that_lead_to_another_site_do_not_take_the_header_along() -> None:
    with serve(Site({"/rules": Reply(b"", content_type="text/plain")}), host="127.0.0.2") as other:
        away = Reply(b"", 301, {"Location": other.url("/rules")})
        with serve(Site({"/robots.txt": away, "/": _PAGE})) as site:
            with session_for(site, other, credentials=_login(site.url("/"))) as session:
                assert fetch_one(session, site.url("/")).status is FetchStatus.OK
            assert set(_told(site).values()) == {True}
            assert _told(other) == {"127.0.0.2/rules": False}


def test_without_a_login_no_request_carries_one() -> None:
    with serve(Site({"/": _PAGE})) as site, session_for(site) as session:
        fetch_one(session, site.url("/"))
        assert all("authorization" not in ask.headers for ask in site.log)


def test_neither_logs_nor_errors_nor_any_object_of_ours_show_the_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    failing = [Reply(b"", 503), Reply(raw=b"no HTTP"), Reply(b"", 401)]
    with serve(Site({"/": failing, "/b": _PAGE})) as site:
        with session_for(site, credentials=_login(site.url("/"))) as session:
            results = [fetch_one(session, site.url(path)) for path in ("/", "/b")]
            shown = "".join(repr(known) for known in gc.get_objects() if _is_ours(known))
            assert "Credentials" in shown
        assert set(_told(site).values()) == {True}
        assert _SECRET not in shown + repr(results) + caplog.text


def _is_ours(known: Any) -> bool:
    return str(type(known).__module__).startswith(("ingest.", "schemas."))


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "CONNECTION",
        "Cookie",
        "User-Agent",
        "If-None-Match",
        "Range",
        "Accept-Encoding",
        "X Key",
        "X:Key",
        "X-Key\r\nHost",
        "",
    ],
)
def test_a_header_that_frames_the_request_or_is_none_is_refused(name: str) -> None:
    assert name_refusal(name)


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "PRIVATE-TOKEN", "x_key"])
def test_a_header_for_a_login_is_taken(name: str) -> None:
    assert name_refusal(name) is None


@pytest.mark.parametrize(
    ("value", "sendable"),
    [
        ("abc.DEF-123~+/=", True),
        ("Basic dXNlcjpwYXNz", True),
        ("a\r\nX-Other: b", False),
        ("token\n", False),
        ("a\0b", False),
        ("a\x1b[31m", False),
        (" a", False),
        ("clé", False),
        ("", False),
    ],
)
def test_a_value_is_visible_ascii_on_one_line(value: str, sendable: bool) -> None:
    assert is_sendable(value) is sendable
