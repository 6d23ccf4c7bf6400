"""git's smart protocol over HTTP, through the gate: every connection is checked where its socket opens."""

import socket
import ssl
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any
from urllib.parse import urljoin

import urllib3
from dulwich.client import AbstractHttpGitClient
from dulwich.errors import GitProtocolError, NotGitRepository
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from ingest.fetch.gate import Address, AddressGate, AllowedTarget, addresses_of
from ingest.fetch.transport import REDIRECTS
from ingest.urls import canonical_url
from schemas.errors import FetchRefused, Stopped

MAX_REDIRECTS = 5
_TIMEOUT = urllib3.Timeout(connect=10.0, read=60.0)
_LOGIN = frozenset({401, 403})

_MOST_ADDRESSES = 4
"""Each may take the whole time to connect, during which nobody can stop it."""


@dataclass(slots=True, kw_only=True)
class HttpBounds:
    """What all answers of a repository together may cost; `monotonic` tells the time, in seconds."""

    deadline: float
    monotonic: Callable[[], float]
    max_bytes: int
    should_stop: Callable[[], bool]
    received: int = 0

    def count(self, data: bytes) -> bytes:
        """Let *data* pass. Raises: FetchRefused: too much, or too slow; Stopped."""
        self.received += len(data)
        if self.should_stop():
            raise Stopped("stopped; run again to continue")
        if self.received > self.max_bytes:
            raise FetchRefused(f"is larger than {self.max_bytes // 1_000_000} MB (max_mb in the source file)")
        if self.monotonic() > self.deadline:
            raise FetchRefused("did not end in time")
        return data


class GitHttpClient(AbstractHttpGitClient):
    """Asks one repository. *login* gives the headers that a URL may be told."""

    def __init__(
        self,
        url: str,
        *,
        user_agent: str,
        login: Callable[[str], Mapping[str, str]],
        allowed: Collection[AllowedTarget],
        bounds: HttpBounds,
    ) -> None:
        super().__init__(url)
        # Hosts tell git from browsers by the name's beginning.
        self._fixed = {"User-Agent": f"git/dulwich ({user_agent})", "Accept-Encoding": "identity"}
        self._login = login
        self._bounds = bounds
        self._pools = _gated_pools(AddressGate(allowed))

    def close(self) -> None:
        self._pools.clear()

    def _discover_references(self, *args: Any, **kwargs: Any) -> Any:
        found = super()._discover_references(*args, **kwargs)
        if self.dumb:
            raise FetchRefused(
                "the server gives its files one by one (git's dumb protocol), which is not supported"
            )
        return found

    def _get_url(self, path: str | bytes) -> str:  # noqa: ARG002 - one client, one repository
        return self._base_url

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: Any = None,
        raise_for_status: bool = True,
    ) -> Any:
        response, last = self._ask(url, headers or {}, data)
        if raise_for_status and response.status in _LOGIN:
            raise FetchRefused(f"requires a login (HTTP {response.status}); set auth in the source file")
        if raise_for_status and response.status == 404:
            raise NotGitRepository
        if raise_for_status and response.status != 200:
            raise GitProtocolError(f"HTTP {response.status}")
        response.content_type = response.headers.get("Content-Type")
        response.redirect_location = last if last != url else ""
        return response, lambda size=None: self._bounds.count(_read(response, size))

    def _ask(self, url: str, headers: Mapping[str, str], data: Any) -> tuple[Any, str]:
        for _ in range(MAX_REDIRECTS + 1):
            self._bounds.count(b"")
            try:
                response = self._pools.request(
                    "GET" if data is None else "POST",
                    url,
                    body=data,
                    headers={**self._fixed, **headers, **self._login(url)},
                    preload_content=False,
                    redirect=False,
                    retries=False,
                    timeout=_TIMEOUT,
                )
            except urllib3.exceptions.HTTPError as error:
                raise FetchRefused(f"cannot be reached ({type(error).__name__})") from error
            if data is not None or response.status not in REDIRECTS:
                return response, url
            url = self._redirected(url, response)
        raise FetchRefused(f"redirects more than {MAX_REDIRECTS} times")

    def _redirected(self, url: str, response: Any) -> str:
        target = canonical_url(urljoin(url, response.headers.get("Location", "")))
        response.close()
        if target is None or not target.startswith("https://" if url.startswith("https://") else "http"):
            raise FetchRefused("redirects to an address that may not be fetched")
        return target


def _read(response: Any, size: int | None) -> bytes:
    try:
        return bytes(response.read(size, decode_content=False))
    except urllib3.exceptions.HTTPError as error:
        raise FetchRefused(f"broke off ({type(error).__name__})") from error


def _gated_pools(gate: AddressGate) -> urllib3.PoolManager:
    """Make pools whose connections go to the first checked address that accepts, and to no other host."""

    class Gated:
        def _new_conn(self: Any) -> Any:
            name = self._dns_host
            addresses = _resolve(self, name.strip("[]"))
            gate.check(name.strip("[]"), self.port, addresses)
            addresses = addresses[:_MOST_ADDRESSES]
            try:
                for address in addresses[:-1]:
                    self._dns_host = str(address)
                    with suppress(NewConnectionError, ConnectTimeoutError):
                        return super()._new_conn()  # type: ignore[misc]
                self._dns_host = str(addresses[-1])
                return super()._new_conn()  # type: ignore[misc]
            finally:
                self._dns_host = name  # what the certificate must name

    class Plain(HTTPConnectionPool):
        ConnectionCls = type("GatedHttp", (Gated, HTTPConnection), {})

    class Secure(HTTPSConnectionPool):
        ConnectionCls = type("GatedHttps", (Gated, HTTPSConnection), {})

    pools = urllib3.PoolManager(ssl_context=ssl.create_default_context())
    pools.pool_classes_by_scheme = {"http": Plain, "https": Secure}
    return pools


def _resolve(connection: Any, host: str) -> tuple[Address, ...]:
    """Look *host* up within the time that *connection* has to connect; getaddrinfo knows no limit of its own.

    Raises: NameResolutionError, ConnectTimeoutError.
    """
    found: Future[list[Any]] = Future()

    def look_up() -> None:
        try:
            found.set_result(socket.getaddrinfo(name, connection.port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - whoever waits is to be told
            found.set_exception(error)

    name = host.encode("ascii")  # a str would go through the idna codec, which raises on long labels
    Thread(target=look_up, daemon=True, name="look-up").start()  # nothing else can be done to one that hangs
    try:
        return addresses_of(found.result(connection.timeout))
    except socket.gaierror as error:
        raise NameResolutionError(host, connection, error) from error
    except TimeoutError as error:
        raise ConnectTimeoutError(connection, f"no address of {host} in time") from error
