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


class FaultKind(StrEnum):
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


_ONCE = frozenset({FaultKind.DEADLINE, FaultKind.UNEXPECTED_304})
_TRANSIENT = _ONCE | {
    FaultKind.DNS,
    FaultKind.CONNECT,
    FaultKind.PROXY,
    FaultKind.TIMEOUT,
    FaultKind.RESET,
    FaultKind.TRUNCATED,
    FaultKind.BUSY,
}
_NETWORK = frozenset(
    {
        FaultKind.DNS,
        FaultKind.CONNECT,
        FaultKind.PROXY,
        FaultKind.TIMEOUT,
        FaultKind.RESET,
        FaultKind.DEADLINE,
        FaultKind.TLS,
    }
)
_OURS = frozenset({FaultKind.POLICY, FaultKind.UNSUPPORTED, FaultKind.CODING, FaultKind.TOO_LARGE})
_NONE: Mapping[str, str] = {}


class Fault(Exception):
    """One try that gave no document; stays inside this room.

    `status` and `headers` (names in lower case) are known where they say what to do next.
    """

    def __init__(
        self, kind: FaultKind, reason: str, *, status: int | None = None, headers: Mapping[str, str] = _NONE
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
    def of_network(self) -> bool:
        """The host, not one document, is the likely cause."""
        return self.kind in _NETWORK

    @property
    def ours(self) -> bool:
        """We refuse the document; its server did nothing wrong."""
        return self.kind in _OURS


LIBRARY_ERRORS = (
    Fault,
    FetchRefused,
    httpcore2.ProxyError,
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    OSError,
)
"""All that one exchange may raise; `classify_fault` knows each."""


def classify_fault(error: Exception) -> Fault:
    """Name the fault behind one of `LIBRARY_ERRORS`."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, FetchRefused):
        return Fault(FaultKind.POLICY, str(error))
    if isinstance(error, socket.gaierror):
        return Fault(FaultKind.DNS, f"the host name does not resolve ({error.strerror})")
    if isinstance(error, httpcore2.ProxyError):
        return _classify_proxy(str(error))
    if isinstance(error, httpcore2.ConnectError):
        return _classify_connect(error)
    return next(Fault(kind, reason) for types, kind, reason in _BY_TYPE if isinstance(error, types))


_BY_TYPE: tuple[tuple[tuple[type[Exception], ...], FaultKind, str], ...] = (
    ((httpcore2.ConnectTimeout,), FaultKind.CONNECT, "no connection in time"),
    ((httpcore2.TimeoutException,), FaultKind.TIMEOUT, "no answer in time"),
    ((TimeoutError,), FaultKind.DNS, "the host name did not resolve in time"),
    ((httpcore2.RemoteProtocolError,), FaultKind.TRUNCATED, "the answer broke off or is not HTTP"),
    (
        (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol),
        FaultKind.POLICY,
        "not a request HTTP can carry",
    ),
    ((httpcore2.NetworkError, OSError), FaultKind.RESET, "the connection was reset"),
)


def _classify_proxy(said: str) -> Fault:
    """A proxy that is not there, or answers 5xx, may be well again; any other answer is what it wants."""
    if said.startswith("407"):
        return Fault(
            FaultKind.PROXY_REFUSED,
            "the proxy wants a user and password, as in http://user:password@host:port",
        )
    kind = FaultKind.PROXY_REFUSED if said.startswith("4") else FaultKind.PROXY
    return Fault(kind, f"the proxy cannot be used: {said}")


def _classify_connect(error: BaseException) -> Fault:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Fault(FaultKind.TLS, f"the certificate does not verify ({cause.verify_message})")
        cause = cause.__cause__ or cause.__context__
    return Fault(FaultKind.CONNECT, "no connection")
