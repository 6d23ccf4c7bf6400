"""Connections to a site through a proxy: plain requests are forwarded, TLS goes through a tunnel.

Source: RFC 9112, 3.2.2 (absolute form); RFC 9110, 9.3.6 (CONNECT).
"""

import ssl
from typing import Any

import httpcore2

from ingest.fetch.proxies import Proxy
from ingest.fetch.stream import Stream, open_stream


class ProxyBackend(httpcore2.AsyncNetworkBackend):  # type: ignore[misc]  # httpcore2 comes without types here
    """Opens connections to the proxy itself, which the gate does not judge."""

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **_unused: Any) -> Stream:
        """Connect. Raises: ProxyError: it cannot be reached."""
        try:
            return await open_stream(host, port, timeout)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            raise httpcore2.ProxyError("no connection to it") from error


def connect_through(proxy: Proxy, origin: Any, *, ssl_context: ssl.SSLContext, keepalive: float) -> Any:
    """Return a connection to *origin* by way of *proxy*; nothing is sent yet."""
    own = httpcore2.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target="/")
    pool = httpcore2.AsyncHTTPProxy(
        own,
        proxy_headers=[] if proxy.authorization is None else [(b"Proxy-Authorization", proxy.authorization)],
        ssl_context=ssl_context,
        proxy_ssl_context=ssl_context if proxy.scheme == "https" else None,
        keepalive_expiry=keepalive,
        network_backend=ProxyBackend(),
    )
    return pool.create_connection(origin)
