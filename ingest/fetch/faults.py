"""What can go wrong on the way to a document, and whether trying again can help.

Every exception of the network libraries ends here; none leaves the room.
Source: crawl rules, section 11.
"""

import socket
import ssl
from collections.abc import Mapping
from enum import StrEnum

import httpcore2

from schemas.errors import FetchRefused


class FetchFaultKind(StrEnum):
    """The nature of a fault; the classes below decide what follows from it."""

    DNS = "dns"
    CONNECT = "connect"
    PROXY = "proxy"
    PROXY_REFUSED = "proxy refused"
    TIMEOUT = "timeout"
    RESET = "reset"
    TRUNCATED = "truncated body"
    DEADLINE = "deadline"
    BUSY = "busy status"
    UNEXPECTED_304 = "unexpected 304"
    TLS = "tls"
    HOST_CLOSED = "host closed"
    BAD_ANSWER = "bad answer"
    POLICY = "policy"
    UNDECODABLE = "undecodable"
    UNSUPPORTED = "unsupported type"
    CODING = "unsupported coding"
    TOO_LARGE = "too large"
    RENDERING = "rendering"


_ONCE = frozenset({FetchFaultKind.DEADLINE, FetchFaultKind.UNEXPECTED_304})
_TRANSIENT = _ONCE | {
    FetchFaultKind.DNS,
    FetchFaultKind.CONNECT,
    FetchFaultKind.PROXY,
    FetchFaultKind.TIMEOUT,
    FetchFaultKind.RESET,
    FetchFaultKind.TRUNCATED,
    FetchFaultKind.BUSY,
}
_UNREACHABLE = frozenset(
    {FetchFaultKind.DNS, FetchFaultKind.CONNECT, FetchFaultKind.PROXY, FetchFaultKind.TLS}
)
_NO_ANSWER = frozenset(
    {FetchFaultKind.TIMEOUT, FetchFaultKind.RESET, FetchFaultKind.DEADLINE, FetchFaultKind.BUSY}
)
_OURS = frozenset(
    {FetchFaultKind.POLICY, FetchFaultKind.UNSUPPORTED, FetchFaultKind.CODING, FetchFaultKind.TOO_LARGE}
)
_NONE: Mapping[str, str] = {}


class FetchFault(Exception):
    """One try that gave no document; stays inside this room.

    `status` and `headers` (names in lower case) are known where they say what to do next.
    """

    def __init__(
        self,
        kind: FetchFaultKind,
        reason: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] = _NONE,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.status = status
        self.headers = headers

    def tries(self, allowed: int) -> int:
        """How many tries in all a document with this fault gets."""
        if self.kind not in _TRANSIENT:
            return 1
        return min(2, allowed) if self.kind in _ONCE else allowed

    @property
    def of_host(self) -> bool:
        """The host cannot be reached, whichever document is asked for."""
        return self.kind in _UNREACHABLE

    @property
    def of_document_or_host(self) -> bool:
        """One document never comes, or the host is ill; only other documents tell."""
        return self.kind in _NO_ANSWER

    @property
    def ours(self) -> bool:
        """We refuse the document; its server did nothing wrong."""
        return self.kind in _OURS


LIBRARY_ERRORS = (
    FetchFault,
    FetchRefused,
    httpcore2.ProxyError,
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    OSError,
)
"""All that one exchange may raise; `classify_fault` knows each."""


def classify_fault(error: Exception) -> FetchFault:
    """Name the fault behind one of `LIBRARY_ERRORS`."""
    if isinstance(error, FetchFault):
        return error
    if isinstance(error, FetchRefused):
        return FetchFault(FetchFaultKind.POLICY, str(error))
    if isinstance(error, socket.gaierror):
        return FetchFault(FetchFaultKind.DNS, f"the host name does not resolve ({error.strerror})")
    if isinstance(error, httpcore2.ProxyError):
        return _classify_proxy(str(error))
    if isinstance(error, httpcore2.ConnectError):
        return _classify_connect(error)
    return next(FetchFault(kind, reason) for types, kind, reason in _BY_TYPE if isinstance(error, types))


_BY_TYPE: tuple[tuple[tuple[type[Exception], ...], FetchFaultKind, str], ...] = (
    ((httpcore2.ConnectTimeout,), FetchFaultKind.CONNECT, "no connection in time"),
    ((httpcore2.TimeoutException,), FetchFaultKind.TIMEOUT, "no answer in time"),
    ((TimeoutError,), FetchFaultKind.DNS, "the host name did not resolve in time"),
    ((httpcore2.RemoteProtocolError,), FetchFaultKind.TRUNCATED, "the answer broke off or is not HTTP"),
    (
        (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol),
        FetchFaultKind.POLICY,
        "not a request HTTP can carry",
    ),
    ((httpcore2.NetworkError, OSError), FetchFaultKind.RESET, "the connection was reset"),
)


def _classify_proxy(said: str) -> FetchFault:
    """Name what a proxy said; one that is down, or answers 5xx, may be well again."""
    if said.startswith("407"):
        return FetchFault(
            FetchFaultKind.PROXY_REFUSED,
            "the proxy wants a user and password, as in http://user:password@host:port",
        )
    if said.startswith("4"):
        return FetchFault(FetchFaultKind.PROXY_REFUSED, f"the proxy refuses: {said}")
    return FetchFault(FetchFaultKind.PROXY, f"not reached through the proxy: {said}")


def _classify_connect(error: BaseException) -> FetchFault:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FetchFault(FetchFaultKind.TLS, f"the certificate does not verify ({cause.verify_message})")
        cause = cause.__cause__ or cause.__context__
    return FetchFault(FetchFaultKind.CONNECT, "no connection")
