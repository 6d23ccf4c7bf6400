"""A TCP proxy before a site that breaks what it relays: reset, truncate, stall, drip, latency."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum

from tests.fakes.site_server import Site

_RESET_ON_CLOSE = b"\1\0\0\0\0\0\0\0"


class Ending(StrEnum):
    """What happens to a connection once its `after` bytes have passed."""

    RESET = "reset"
    TRUNCATE = "truncate"
    STALL = "stall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakage:
    """How answers suffer: `after` counts bytes of one connection, `drip` and `latency` are seconds."""

    ending: Ending | None = None
    after: int = 0
    drip: float = 0.0
    latency: float = 0.0


class FaultProxy:
    """Relays one answer a connection; `passed` counts the answer bytes of each."""

    def __init__(self, listener: socket.socket, site: Site) -> None:
        self.breakage = Breakage()
        self.passed: list[int] = []
        self.address = f"127.0.0.1:{listener.getsockname()[1]}"
        self.closing = threading.Event()
        self._listener = listener
        host, _, port = site.address.rpartition(":")
        self._upstream = (host, int(port))

    def url(self, path: str) -> str:
        """Absolute URL of a path behind the proxy."""
        return f"http://{self.address}{path}"

    def accept(self) -> None:
        """Take connections until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        breakage = self.breakage
        self.passed.append(0)
        place = len(self.passed) - 1
        with client, socket.create_connection(self._upstream) as upstream, suppress(OSError):
            upstream.sendall(_read_request(client))
            self.closing.wait(breakage.latency)
            for byte in _answer(upstream):
                if breakage.ending is not None and self.passed[place] >= breakage.after:
                    break
                client.sendall(byte)
                self.passed[place] += 1
                if breakage.drip and self.closing.wait(breakage.drip):
                    return
            self._end(client, breakage.ending)

    def _end(self, client: socket.socket, ending: Ending | None) -> None:
        if ending is Ending.STALL:
            self.closing.wait(30)
        elif ending is Ending.RESET:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)


def _read_request(client: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request and (data := client.recv(65536)):
        request += data
    return request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


def _answer(upstream: socket.socket) -> Iterator[bytes]:
    while data := upstream.recv(65536):
        for at in range(len(data)):
            yield data[at : at + 1]


@contextmanager
def broken(site: Site) -> Iterator[FaultProxy]:
    """Stand before *site*; what `breakage` says holds for connections from then on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = FaultProxy(listener, site)
        thread = threading.Thread(target=proxy.accept, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.closing.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
