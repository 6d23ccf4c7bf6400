"""A source's own proxy, or that of the environment."""

import os

import httpx
import pytest

from ingest.fetch.proxies import Proxy, ProxyRules
from runtime.access import as_given, proxies_of, without_unspoken
from schemas.errors import ConfigError
from schemas.source import Source

_ENVIRON = {
    "HTTPS_PROXY": "http://one.example:3128",
    "OWN": "http://me:hush@two.example:8080",
    "ODD": "socks5://me:hush@x",
}


def _source(proxy: str | None = None, proxy_env: str | None = None) -> Source:
    return Source(
        name="docs", kind="web", seeds=("https://docs.example.com/",), proxy=proxy, proxy_env=proxy_env
    )


def _host(rules: ProxyRules, scheme: str, host: str = "docs.example.com") -> str | None:
    proxy: Proxy | None = rules.proxy_for(scheme, host, 443)
    return proxy and proxy.host


def test_without_a_key_the_environment_decides() -> None:
    rules = proxies_of(_source(), _ENVIRON)

    assert (_host(rules, "https"), _host(rules, "http")) == ("one.example", None)


def test_the_key_wins_over_the_environment_and_holds_for_every_host() -> None:
    rules = proxies_of(_source(proxy="http://three.example:3128"), {**_ENVIRON, "NO_PROXY": "*"})

    assert {_host(rules, "https"), _host(rules, "http", "127.0.0.1")} == {"three.example"}


def test_false_is_no_proxy_whatever_the_environment_says() -> None:
    assert _host(proxies_of(_source(proxy=""), _ENVIRON), "https") is None


def test_a_login_comes_from_the_variable_that_the_source_names() -> None:
    rules = proxies_of(_source(proxy_env="OWN"), _ENVIRON)

    assert _host(rules, "http") == "two.example"
    assert rules.http
    assert rules.http.authorization
    assert "hush" not in repr(rules)


@pytest.mark.parametrize(
    ("variable", "message"), [("GONE", "GONE is not set"), ("ODD", "ODD: is not the URL")]
)
def test_a_variable_that_holds_no_proxy_is_named_without_its_value(variable: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        proxies_of(_source(proxy_env=variable), _ENVIRON)

    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:1080", "socks://127.0.0.1:1080/", "http://proxy:port"])
def test_a_proxy_that_is_not_spoken_to_does_not_keep_prefect_s_client_from_its_server(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("all_proxy", value)
    monkeypatch.setenv("HTTP_PROXY", "http://one.example:3128")
    with pytest.raises((ImportError, ValueError, httpx.InvalidURL)):
        httpx.AsyncClient()

    with without_unspoken(os.environ):
        httpx.AsyncClient()
        with pytest.raises(ConfigError, match="ALL_PROXY: is not the URL"):
            proxies_of(_source(), as_given(os.environ))
        assert os.environ["HTTP_PROXY"] == "http://one.example:3128"

    assert dict(os.environ).get("all_proxy") == value
    assert as_given(os.environ) == os.environ
