"""An HTTP proxy before a server of S3 that fails requests once so many objects were put through it."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Fault(StrEnum):
    """What becomes of requests: refused by rights, no room for more, connections closed, no answer, late."""

    DENY = "deny"
    FULL = "full"
    DOWN = "down"
    HANG = "hang"
    SLOW = "slow"


_ANSWERS = {
    Fault.DENY: (403, "AccessDenied", "Access Denied"),
    Fault.FULL: (507, "XMinioStorageFull", "Storage backend has reached its minimum free drive threshold."),
}
"""As Amazon and MinIO answer."""

_HOP = ("connection", "transfer-encoding", "content-length", "server", "date")
SLOW_SECONDS = 0.05


@dataclass
class FaultyStorage:
    """The proxy: `fault` begins after the put number `after`; `requests` counts all."""

    address: str = ""
    fault: Fault | None = None
    after: int = 0
    puts: int = 0
    requests: int = 0
    closing: threading.Event = field(default_factory=threading.Event)

    def break_after(self, fault: Fault | None, after: int = 0) -> None:
        """Fail from the put number *after* on, counted from now; None mends it."""
        self.puts, self.after, self.fault = 0, after, fault

    def fault_of(self, method: str) -> Fault | None:
        """What becomes of a request."""
        self.requests += 1
        self.puts += method == "PUT"
        if self.fault is None or self.puts <= self.after:
            return None
        # Who may write no more, or has no room, may read on.
        return None if self.fault is Fault.FULL and method != "PUT" else self.fault


@contextmanager
def faulty_storage(address: str) -> Iterator[FaultyStorage]:
    """Relay to the server at *address*."""
    storage, target = FaultyStorage(), urlsplit(address).netloc

    class Relay(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

        def _relay(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = storage.fault_of(self.command)
            if fault is Fault.SLOW:
                storage.closing.wait(SLOW_SECONDS)
            elif fault is Fault.HANG:
                storage.closing.wait()
            if fault in (Fault.DOWN, Fault.HANG):
                self.close_connection = True
            elif fault in _ANSWERS:
                self._answer(*_ANSWERS[fault])
            else:
                self._pass_on(body)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _relay  # noqa: N815 - names of http.server

        def _answer(self, status: int, code: str, message: str) -> None:
            text = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)

        def _pass_on(self, body: bytes) -> None:
            upstream = http.client.HTTPConnection(target, timeout=120)
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in (
                    "connection",
                    "transfer-encoding",
                    "content-length",
                    "server",
                    "date",
                ):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else None
            self.send_header("Content-Length", length or str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            upstream.close()

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that went away is what is being tested; standard error is the program's."""

    server = Quiet(("127.0.0.1", 0), Relay)
    storage.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield storage
    finally:
        storage.closing.set()
        with suppress(OSError):
            server.shutdown()
            server.server_close()
