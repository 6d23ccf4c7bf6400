"""Proxies and headers for a login: which a request gets, each for its own site and nowhere else.

A proxy is the operator's: its own address may be private. What may be asked of it is in ingest/fetch/gate.py.
Source: RFC 9110, 5.1 and 5.5 (names, values); RFC 6750, 2.1 (bearer tokens).
"""

import ipaddress
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from ingest.urls import owned_site
from schemas.errors import ConfigError

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("127.0.0.0/8", "::1/128")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """One HTTP proxy, spoken to over TLS where its scheme is https.

    `authorization` is the value of Proxy-Authorization, never shown (RFC 7617, 2).
    """

    scheme: str
    host: str
    port: int
    authorization: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRules:
    """The proxies for http and https; `direct` are the hosts that NO_PROXY names, with commas between.

    `everywhere`: a source names its proxy, and nothing goes past it.
    """

    http: Proxy | None = None
    https: Proxy | None = None
    direct: str = ""
    everywhere: bool = False

    def proxy_for(self, scheme: str, host: str, port: int) -> Proxy | None:
        """Return the proxy for a host (IPv6 without brackets); None: straight there."""
        proxy = self.https if scheme == "https" else self.http
        if proxy is None or self.everywhere:
            return proxy
        return None if is_direct(host, port, self.direct) else proxy


def is_direct(host: str, port: int, direct: str) -> bool:
    """Whether a host is reached without the proxy: loopback, or named in NO_PROXY.

    An entry is `*`, a domain that stands for its subdomains too, an address, or a network such as 10.0.0.0/8;
    all but `*` may have a port. Source: curl(1), NO_PROXY; Go's net/http for loopback.
    """
    if host == "localhost" or any(_is_within(host, network) for network in _LOOPBACK):
        return True
    entries = (entry.strip().lower() for entry in direct.split(","))
    return any(_stands_for(entry, host.lower(), port) for entry in entries if entry)


def _stands_for(entry: str, host: str, port: int) -> bool:
    with_port = re.fullmatch(r"(\[.*\]|[^:]*):([0-9]+)", entry)
    if with_port and int(with_port[2]) != port:
        return False
    name = with_port[1] if with_port else entry
    domain = name.removeprefix("*").removeprefix(".")
    return name == "*" or host == domain or host.endswith(f".{domain}") or _is_within(host, name)


def _is_within(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network.strip("[]"), strict=False)
    except ValueError:
        return False


def read_proxies(environ: Mapping[str, str]) -> ProxyRules:
    """Read HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; the lower-case name wins, empty is unset.

    Raises: ConfigError: one names no proxy that is spoken to; the message has no part of its value.
    """
    return ProxyRules(
        http=_first(environ, "HTTP_PROXY", "ALL_PROXY"),
        https=_first(environ, "HTTPS_PROXY", "ALL_PROXY"),
        direct=_value(environ, "NO_PROXY"),
    )


def parse_proxy(text: str, *, subject: str) -> Proxy:
    """Read the URL of a proxy; without a scheme it is http.

    Raises: ConfigError: it is none; the message has no part of it, since it may contain a password.
    """
    parts = _split(text if "://" in text else f"http://{text}")
    host = (parts and parts.hostname) or ""
    if parts is None or parts.scheme not in _PORTS or not host or re.search(r"\s", host) or _rest(parts):
        raise ConfigError(
            "is not the URL of an http or https proxy, as in http://proxy.example.org:3128; set it to one, "
            "or write proxy: false in the source file",
            subject=subject,
        )
    return Proxy(
        scheme=parts.scheme,
        host=host,
        port=parts.port or _PORTS[parts.scheme],
        authorization=_authorization(parts),
    )


def _first(environ: Mapping[str, str], *names: str) -> Proxy | None:
    named = ((name, _value(environ, name)) for name in names)
    return next((parse_proxy(value, subject=name) for name, value in named if value), None)


def _value(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name.lower(), environ.get(name, "")).strip()


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        _ = parts.port  # a port that is none raises where it is asked for
    except ValueError:
        return None
    return parts


def _rest(parts: SplitResult) -> str:
    """What follows the host; after a password that has `/`, `?` or `#` as it is, the true host is in it."""
    return f"{parts.path.removeprefix('/')}{parts.query}{parts.fragment}"


def _authorization(parts: SplitResult) -> bytes | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return b"Basic " + b64encode(pair.encode())


_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_OURS = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer"),
        *("upgrade", "expect", "proxy-authorization", "proxy-connection"),
        *("user-agent", "accept", "accept-encoding", "range"),
        *("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"),
    }
)
"""Headers that frame the request, steer the connection or decide what a 304 means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Header fields for the owners of some seeds; `repr` shows no value.

    `sites` are pairs of scheme and site, the site as `owned_site` names it.
    """

    sites: frozenset[tuple[str, str]] = frozenset()
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def headers_for(self, url: str) -> tuple[tuple[bytes, bytes], ...]:
        """Return what a request for *url* (canonical) carries: nothing outside the seeds' own sites.

        What a seed reaches over https is never sent in the clear.
        """
        if not self.sites:
            return ()  # naming a site would load the list of public suffixes for nothing
        scheme, site = _place(url)
        if not {(scheme, site), ("http", site)} & self.sites:
            return ()
        return tuple((name.encode(), value.encode()) for name, value in self.headers)


def build_credentials(headers: Mapping[str, str], *, seeds: Sequence[str]) -> Credentials:
    """Return the credentials of a source; *headers* have passed `name_refusal` and `is_sendable`."""
    return Credentials(sites=frozenset(map(_place, seeds)), headers=tuple(sorted(headers.items())))


def name_refusal(name: str) -> str | None:
    """Say why a source may not set this header; None when it may."""
    if not _NAME.fullmatch(name):
        return "is not the name of a header"
    if name.lower() == "cookie":
        return "cookies stand under `login`, not here"
    return "is set by sitegraph itself" if name.lower() in _OURS else None


def is_sendable(value: str) -> bool:
    """Whether *value* is visible ASCII with spaces inside at most; a line end would begin another header."""
    return _VALUE.fullmatch(value) is not None


def _place(url: str) -> tuple[str, str]:
    return url.partition("://")[0], owned_site(url)
