"""Which proxy a host is reached through, and what of a proxy's URL is ever shown."""

from base64 import b64encode

import pytest

from ingest.fetch.proxies import Proxy, ProxyRules, is_direct, parse_proxy, read_proxies
from schemas.errors import ConfigError

ONE = Proxy(scheme="http", host="one.example", port=3128)
OTHER = Proxy(scheme="http", host="other.example", port=8080)


@pytest.mark.parametrize(
    ("environ", "http", "https"),
    [
        ({}, None, None),
        ({"HTTP_PROXY": "http://one.example:3128"}, ONE, None),
        ({"https_proxy": "http://one.example:3128"}, None, ONE),
        ({"HTTP_PROXY": "http://one.example:3128", "http_proxy": "http://other.example:8080"}, OTHER, None),
        ({"HTTP_PROXY": "http://one.example:3128", "http_proxy": ""}, None, None),
        ({"ALL_PROXY": "one.example:3128", "HTTPS_PROXY": "http://other.example:8080/"}, ONE, OTHER),
        ({"HTTP_PROXY": "", "HTTPS_PROXY": "  "}, None, None),
    ],
)
def test_the_usual_variables_name_the_proxy(
    environ: dict[str, str], http: Proxy | None, https: Proxy | None
) -> None:
    rules = read_proxies(environ)

    assert rules.proxy_for("http", "docs.example.org", 80) == http
    assert rules.proxy_for("https", "docs.example.org", 443) == https


@pytest.mark.parametrize(
    ("host", "direct"),
    [
        ("docs.example.org", ""),
        ("docs.example.org", "example.com,ample.org"),
        ("docs.example.org", "docs.example.org:8080"),
        ("10.1.2.3", "10.2.0.0/16"),
        ("10.1.2.3", "10.1.2.30"),
        ("127.example.org", ""),
        ("fd00::1", "[fd00::1]:80"),
        ("docs.example.org", ",,"),
        ("docs.example.org", "."),
    ],
)
def test_other_hosts_go_through_the_proxy(host: str, direct: str) -> None:
    assert not is_direct(host, 443, direct)


@pytest.mark.parametrize(
    ("host", "direct"),
    [
        ("docs.example.org", "*"),
        ("docs.example.org", "example.com, example.org"),
        ("docs.example.org", ".example.org"),
        ("docs.example.org", "docs.example.org:443"),
        ("Docs.Example.org", "docs.example.ORG"),
        ("10.1.2.3", "10.1.0.0/16"),
        ("10.1.2.3", "10.1.2.3"),
        ("fd00::1", "fd00::/8"),
        ("fd00::1", "[fd00::1]"),
        ("fd00::1", "[fd00::1]:443"),
        ("docs.example.org", "*.example.org"),
        ("localhost", ""),
        ("127.0.0.9", ""),
        ("::1", ""),
    ],
)
def test_loopback_and_what_no_proxy_names_is_reached_straight(host: str, direct: str) -> None:
    assert is_direct(host, 443, direct)


def test_a_proxy_that_a_source_names_has_no_exceptions() -> None:
    rules = ProxyRules(http=ONE, https=ONE, direct="*", everywhere=True)

    assert rules.proxy_for("http", "127.0.0.1", 80) == ONE


def test_a_password_may_have_any_characters_and_is_never_shown() -> None:
    proxy = parse_proxy("http://me%40corp:p%40ss%2Fw%3Ard%23%25@proxy.example:3128", subject="HTTP_PROXY")

    assert proxy.authorization == b"Basic " + b64encode(b"me@corp:p@ss/w:rd#%")
    assert (proxy.host, proxy.port) == ("proxy.example", 3128)
    assert "Basic" not in repr(proxy)
    assert "p@ss" not in repr(ProxyRules(http=proxy))


@pytest.mark.parametrize(
    "value",
    [
        "socks5://me:hush@proxy:1080",
        "http://me:hush@",
        "http://me:hush@proxy:port",
        "ftp://me:hush@x",
        "http://me:1#hush@proxy:3128",
        "http://me:1?hush@proxy:3128",
        "http://me:1/hush@proxy:3128",
        "http://hush hush:3128",
        "//",
    ],
)
def test_what_is_no_proxy_is_refused_without_a_word_of_it(value: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_proxies({"HTTPS_PROXY": value})

    assert str(refused.value).startswith("HTTPS_PROXY: is not the URL of an http or https proxy")
    assert "hush" not in str(refused.value)
