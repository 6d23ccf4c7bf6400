"""Pages through a real forward proxy, plain and by CONNECT, and what the gate still refuses there."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from ingest.fetch.proxies import Proxy, ProxyRules, parse_proxy, read_proxies
from ingest.uses import TDM_FILE
from schemas.fetch import FetchStatus
from tests.fakes.certificate import write_certificate
from tests.fakes.fetching import fetch, fetch_one, session_for, short_limits
from tests.fakes.forward_proxy import ForwardProxy, forward_proxy
from tests.fakes.prefect_server import free_port
from tests.fakes.site_server import Ask, Reply, Site, serve

PAGE = Reply(b"<html><body><p>Seen through a proxy.</p></body></html>")


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForwardProxy]:
    with forward_proxy(tmp_path_factory.mktemp("proxy"), hosts={"docs.site.test": "127.0.0.1"}) as running:
        yield running


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site({"/a;b?c=d": PAGE, "/robots.txt": Reply(b"", 404)})) as served:
        yield served


def through(proxy: ForwardProxy, **login: str) -> ProxyRules:
    """All requests through a proxy, as where a source names it."""
    who = f"{login['user']}:{login['password']}@" if login else ""
    named = parse_proxy(f"http://{who}127.0.0.1:{proxy.port}", subject="proxy")
    return ProxyRules(http=named, https=named, everywhere=True)


def test_a_page_comes_through_the_proxy(proxy: ForwardProxy, site: Site) -> None:
    url = site.url("/a;b?c=d")
    with session_for(site, proxies=through(proxy)) as session:
        result = fetch_one(session, url)

    assert (result.status, result.body) == (FetchStatus.OK, PAGE.body)
    assert f"GET {url}" in proxy.requests()
    assert [ask.path for ask in site.log] == ["/robots.txt", "/a;b?c=d", TDM_FILE]
    assert "proxy-authorization" not in site.log[-1].headers


def test_a_page_over_tls_comes_through_a_tunnel_with_the_sites_own_certificate(
    proxy: ForwardProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = write_certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(httpx2, "create_ssl_context", lambda **_: trusting)
    with serve(Site({"/a": PAGE}), tls=tls) as site:
        url = site.url("/a").replace("127.0.0.1", "localhost")
        named = site.address.replace("127.0.0.1", "localhost")
        with session_for(allow_private=(named,), proxies=through(proxy)) as session:
            result = fetch_one(session, url)

    assert (result.status, result.body) == (FetchStatus.OK, PAGE.body)
    assert f"CONNECT {named}" in proxy.requests()


def test_the_environment_sends_a_site_that_only_the_proxy_can_resolve_through_it(
    proxy: ForwardProxy, site: Site
) -> None:
    named = site.address.replace("127.0.0.1", "docs.site.test")
    rules = read_proxies({"http_proxy": proxy.url, "NO_PROXY": "other.test"})
    with session_for(allow_private=(named,), proxies=rules) as session:
        result = fetch_one(session, f"http://{named}/a;b?c=d")

    assert result.status is FetchStatus.OK, result.reason


def test_what_no_proxy_names_goes_past_it(proxy: ForwardProxy, site: Site) -> None:
    asked = len(proxy.requests())
    with session_for(site, proxies=read_proxies({"http_proxy": proxy.url})) as session:
        result = fetch_one(session, site.url("/a;b?c=d"))

    assert result.status is FetchStatus.OK
    assert len(proxy.requests()) == asked, "loopback is reached straight"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/a",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/a",
        "http://[::1]/a",
        "http://localhost/a",
        "http://intranet/a",
        "http://metadata.google.internal/a",
        "http://printer.local/a",
        "http://router.home.arpa/a",
        "http://docs.site.test:8080/a",
    ],
)
def test_the_gate_refuses_private_targets_before_the_proxy_is_asked(proxy: ForwardProxy, url: str) -> None:
    asked = proxy.requests()
    with session_for(proxies=through(proxy)) as session:
        result = fetch_one(session, url)

    assert result.status is FetchStatus.REFUSED, result
    assert proxy.requests() == asked


def test_a_redirect_through_the_proxy_to_a_private_address_is_not_followed_there(
    proxy: ForwardProxy, site: Site
) -> None:
    secret = Site({"/secret": PAGE, "/robots.txt": Reply(b"", 404)})
    with serve(secret):
        site.pages["/robots.txt"] = Reply(b"", 302, {"Location": secret.url("/secret")})
        with session_for(site, proxies=through(proxy)) as session:
            fetch_one(session, site.url("/a;b?c=d"))

    assert secret.log == []


def test_a_login_at_the_proxy_is_given_and_is_no_business_of_the_site(tmp_path: Path, site: Site) -> None:
    with forward_proxy(tmp_path, user="me", password="hush") as guarded:
        with session_for(site, proxies=through(guarded, user="me", password="hush")) as session:
            allowed = fetch_one(session, site.url("/a;b?c=d"))
        with session_for(site, proxies=through(guarded)) as session:
            unnamed = fetch_one(session, site.url("/a;b?c=d"))
        with session_for(site, proxies=through(guarded, user="me", password="wrong")) as session:
            mistaken = fetch_one(session, site.url("/a;b?c=d"))

    assert allowed.status is FetchStatus.OK, allowed.reason
    assert all("proxy-authorization" not in ask.headers for ask in site.log)
    assert unnamed.status is FetchStatus.FAILED
    assert "the proxy wants a user and password" in (unnamed.reason or "")
    assert mistaken.status is FetchStatus.FAILED
    assert "wrong" not in (mistaken.reason or "")


def test_a_proxy_that_is_not_there_is_named_as_the_cause(site: Site) -> None:
    gone = Proxy(scheme="http", host="127.0.0.1", port=free_port())
    rules = ProxyRules(http=gone, https=gone, everywhere=True)
    with session_for(site, proxies=rules, limits=short_limits(2)) as session:
        result = fetch_one(session, site.url("/a;b?c=d"))

    assert "not reached through the proxy: no connection to it" in (result.reason or "")
    assert site.log == []


def test_a_site_that_the_proxy_cannot_reach_is_told_in_the_proxys_words(proxy: ForwardProxy) -> None:
    named = f"localhost:{free_port()}"
    with session_for(allow_private=(named,), proxies=through(proxy), limits=short_limits(5)) as session:
        result = fetch_one(session, f"https://{named}/a")

    assert result.status is FetchStatus.FAILED
    assert "not reached through the proxy: 5" in (result.reason or "")


def test_connections_through_the_proxy_are_kept(proxy: ForwardProxy) -> None:
    pages = {f"/{number}": PAGE for number in range(5)}
    seen: list[Ask] = []
    with serve(Site({**pages, "/robots.txt": Reply(b"", 404)})) as site:
        with session_for(site, proxies=through(proxy)) as session:
            results = fetch(session, *(site.url(path) for path in pages))
        seen = site.log

    assert {result.status for result in results.values()} == {FetchStatus.OK}
    assert len(seen) == 7
