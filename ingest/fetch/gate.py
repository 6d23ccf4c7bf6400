"""The address gate: every connection is checked where its socket opens, and read straight on asyncio.

A check of the URL alone is passed by redirects, by odd spellings of an address and by a name that resolves
differently the second time; here the address that was checked is the one connected to.
Source: crawl rules, section 1.

The library's own stream goes through anyio, which serves other event loops too, at the price of a cancel
scope and a few look-ups for every read and every write.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import httpcore2

from schemas.errors import ConfigError, FetchRefused

_HELD = 64 * 1024
"""Bytes that may wait to be read, twice over, before the other side is held back."""


async def open_stream(host: str, port: int, timeout: float | None) -> "Stream":
    """Connect within *timeout* seconds. Raises: ConnectTimeout, ConnectError."""
    loop = asyncio.get_running_loop()
    reader = _CountingReader(limit=_HELD, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    with _named(httpcore2.ConnectTimeout, httpcore2.ConnectError):
        async with asyncio.timeout(timeout):
            transport, _ = await loop.create_connection(lambda: protocol, host, port)
    return Stream(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


class _CountingReader(asyncio.StreamReader):
    came = 0

    def feed_data(self, data: Any) -> None:
        self.came += len(data)
        super().feed_data(data)


class Stream(httpcore2.AsyncNetworkStream):  # type: ignore[misc]  # httpcore2 comes without types here
    """Reads and writes within their time limits; errors are those of httpcore2."""

    def __init__(self, reader: _CountingReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._read = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has come, empty at the end. Raises: ReadTimeout, ReadError."""
        with _named(httpcore2.ReadTimeout, httpcore2.ReadError):
            async with asyncio.timeout(timeout):
                data = await self._reader.read(max_bytes)
        self._read += len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of *buffer*. Raises: WriteTimeout, WriteError."""
        if not buffer:
            return
        with _named(httpcore2.WriteTimeout, httpcore2.WriteError):
            self._writer.write(buffer)
            async with asyncio.timeout(timeout):
                await self._writer.drain()

    async def aclose(self) -> None:
        """Close at once: what the other side may still send is of no use."""
        self._writer.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "Stream":
        """Go on encrypted. Raises: ConnectTimeout, ConnectError."""
        try:
            with _named(httpcore2.ConnectTimeout, httpcore2.ConnectError):
                async with asyncio.timeout(timeout):
                    await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except BaseException:
            await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """Report on the connection; `is_readable`, asked of an idle one: it was closed or spoken to."""
        if info == "is_readable":
            spoken = self._reader.came != self._read
            return spoken or self._reader.at_eof() or self._writer.is_closing()
        return self._writer.get_extra_info(info)


@contextmanager
def _named(timeout: type[Exception], error: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as cause:
        raise timeout(cause) from cause
    except (OSError, EOFError) as cause:
        raise error(cause) from cause


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(part) for part in text.split())


# An explicit list: ipaddress.is_global calls several of these public.
_BLOCKED = _networks("""
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    168.63.129.16/32
    ::/96 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20
    5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
""")
_METADATA = _networks("169.254.0.0/16 168.63.129.16/32 100.100.100.200/32 fd00:ec2::254/128 fe80::/10")
_NAMEABLE = _networks("127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7")
_PORT = re.compile(r"[0-9]{1,5}")
_PUBLIC_PORTS = frozenset({80, 443})
_PRIVATE_DOMAINS = frozenset({"localhost", "local", "internal"})
_LOOK_UP_SECONDS = 2.0
"""For a name that a proxy resolves: behind one, there may be nobody here to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedTarget:
    """One exact (address or name, port) that may lie in a private range."""

    host: str
    port: int


def parse_allowed(entry: str) -> AllowedTarget:
    """Read an `allow_private` entry: `127.0.0.1:8000`, `[::1]:8000` or `localhost:8000`.

    Raises: ConfigError: no port, or an address of a metadata service.
    """
    host, _, port = entry.rpartition(":")
    host = host.strip("[]").lower()
    if not host or "/" in host or not (_PORT.fullmatch(port) and 0 < int(port) < 65536):
        raise ConfigError("write it as host:port, as in 127.0.0.1:8000", subject=f"allow_private {entry}")
    address = _as_address(host)
    if address is not None and _within(address, _METADATA):
        raise ConfigError("a metadata address can never be allowed", subject=f"allow_private {entry}")
    return AllowedTarget(host=str(address or host), port=int(port))


class AddressGate:
    """Says which addresses a host name may stand for."""

    def __init__(self, allowed: Collection[AllowedTarget]) -> None:
        self._allowed = frozenset((target.host, target.port) for target in allowed)

    def check_name(self, host: str, port: int) -> None:
        """Let pass a name that only a proxy can resolve, where it may be that of a public site.

        Raises: FetchRefused: it names a private network (RFC 6761, 6762, 8375; ICANN's `internal`), or the
        port is no site's.
        """
        if (host.lower(), port) in self._allowed:
            return
        if port not in _PUBLIC_PORTS:
            raise FetchRefused(f"port {port} is not 80, 443 or one named in allow_private", subject=host)
        labels = host.lower().rstrip(".").split(".")
        if len(labels) == 1 or labels[-1] in _PRIVATE_DOMAINS or labels[-2:] == ["home", "arpa"]:
            raise FetchRefused("names a private network, and is not in allow_private", subject=host)

    def check(self, host: str, port: int, addresses: Collection[Address]) -> None:
        """Let pass only what every one of *addresses* may be; one bad answer refuses the host.

        Raises: FetchRefused.
        """
        for address in addresses:
            exact = (str(address), port) in self._allowed
            named = (host.lower(), port) in self._allowed
            if not (exact or named or port in _PUBLIC_PORTS):
                raise FetchRefused(f"port {port} is not 80, 443 or one named in allow_private", subject=host)
            if is_blocked(address) and not (exact or (named and _within(address, _NAMEABLE))):
                raise FetchRefused(f"{address} is not public, nor in allow_private", subject=host)
            if _within(address, _METADATA):
                raise FetchRefused(f"{address} is a metadata address", subject=host)


@lru_cache(maxsize=4096)
def is_blocked(address: Address) -> bool:
    """Whether *address* lies in a range that no public site lives in."""
    return _within(address, _BLOCKED)


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _as_address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


class GateBackend(httpcore2.AsyncNetworkBackend):  # type: ignore[misc]  # httpcore2 comes without types here
    """Opens connections, through the gate."""

    def __init__(self, gate: AddressGate) -> None:
        self._gate = gate
        self._unknown: set[str] = set()

    async def admit_through_proxy(self, host: str, port: int) -> None:
        """Judge a host that a proxy will connect to, by all that can be known of it here.

        An address is judged as ever, a name by its addresses. One that does not resolve here is the proxy's
        to resolve, and to refuse: only its form is judged. Raises: FetchRefused.
        """
        address = _as_address(host)
        if address is None:
            self._gate.check_name(host, port)
        found = (address,) if address is not None else await self._look_up(host, port)
        self._gate.check(host, port, found)

    async def _look_up(self, host: str, port: int) -> tuple[Address, ...]:
        if host in self._unknown:
            return ()
        try:
            return await _resolve(host, port, _LOOK_UP_SECONDS)
        except OSError:  # of which socket.gaierror and TimeoutError are kinds
            self._unknown.add(host)
            return ()

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **_unused: Any) -> Stream:
        """Resolve once, check every answer, connect to the first checked address that accepts."""
        addresses = await _resolve(host, port, timeout)
        self._gate.check(host, port, addresses)
        for address in addresses[:-1]:
            try:
                return await open_stream(str(address), port, timeout)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await open_stream(str(addresses[-1]), port, timeout)

    async def connect_unix_socket(self, *_args: Any, **_kwargs: Any) -> Any:
        """Refuse: no site lives in a socket file."""
        raise FetchRefused("unix sockets are not fetched from")

    async def sleep(self, seconds: float) -> None:
        """Wait between connection attempts."""
        await asyncio.sleep(seconds)


async def _resolve(host: str, port: int, timeout: float | None) -> tuple[Address, ...]:
    name = host.encode("ascii")  # a str would go through the idna codec, which raises on long labels
    async with asyncio.timeout(timeout):  # getaddrinfo knows no limit of its own
        infos = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return addresses_of(infos)


def addresses_of(infos: Iterable[tuple[Any, ...]]) -> tuple[Address, ...]:
    """Return the addresses that `getaddrinfo` found, in its order."""
    found = (ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in infos)
    return tuple(dict.fromkeys(found))
