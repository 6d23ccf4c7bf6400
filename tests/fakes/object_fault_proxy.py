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
    """What becomes of requests.

    Refused by rights, no room for more, connection closed, no answer, half an answer, an answer that comes
    late, or one that is lost when what was asked for is done.
    """

    DENY = "deny"
    FULL = "full"
    DOWN = "down"
    HANG = "hang"
    STALL = "stall"
    SLOW = "slow"
    LOSE = "lose"


_ANSWERS = {
    Fault.DENY: (403, "AccessDenied", "Access Denied"),
    Fault.FULL: (507, "XMinioStorageFull", "Storage backend has reached its minimum free drive threshold."),
}
"""As Amazon and MinIO answer."""

_HOP = ("connection", "transfer-encoding", "content-length", "server", "date")
SLOW_SECONDS = 0.05


@dataclass
class FaultyStorage:
    """The proxy: `fault` begins after the put number `after`; `requests` counts all, `failed` those it met.

    It meets puts, or other `methods`, of paths that contain `only` alone where that is set. Of each object
    one answer is lost, so that a put is answered when it is repeated; with `always`, all.
    """

    address: str = ""
    fault: Fault | None = None
    after: int = 0
    only: str = ""
    always: bool = False
    methods: tuple[str, ...] = ("PUT",)
    met: set[str] = field(default_factory=set)
    puts: int = 0
    requests: int = 0
    failed: int = 0
    closing: threading.Event = field(default_factory=threading.Event)
    counting: threading.Lock = field(default_factory=threading.Lock)

    def break_after(
        self,
        fault: Fault | None,
        after: int = 0,
        *,
        only: str = "",
        always: bool = False,
        methods: tuple[str, ...] = ("PUT",),
    ) -> None:
        """Fail from the put number *after* on, counted from now; None repairs it."""
        self.puts, self.after, self.fault = 0, after, fault
        self.only, self.always, self.methods, self.failed = only, always, methods, 0
        self.met.clear()

    def fault_of(self, method: str, path: str) -> Fault | None:
        """What becomes of a request."""
        with self.counting:
            self.requests += 1
            self.puts += method == "PUT"
            if not self._meets(method, path):
                return None
            self.failed += 1
            self.met.add(urlsplit(path).path)
            return self.fault

    def _meets(self, method: str, path: str) -> bool:
        if self.fault is None or self.puts <= self.after:
            return False
        if self.fault is Fault.LOSE and urlsplit(path).path in self.met and not self.always:
            return False
        # Who may write no more, or has no room, may read on.
        writes_only = bool(self.only) or self.fault in (Fault.FULL, Fault.LOSE)
        return self.only in path and (method in self.methods or not writes_only)


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
            fault = storage.fault_of(self.command, self.path)
            if fault is Fault.SLOW:
                storage.closing.wait(SLOW_SECONDS)
            elif fault is Fault.HANG:
                storage.closing.wait()
            if fault in (Fault.DOWN, Fault.HANG):
                self.close_connection = True
            elif fault in _ANSWERS:
                self._answer(*_ANSWERS[fault])
            else:
                self._pass_on(body, fault)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _relay  # noqa: N815 - names of http.server

        def _answer(self, status: int, code: str, message: str) -> None:
            text = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)

        def _pass_on(self, body: bytes, fault: Fault | None) -> None:
            upstream = http.client.HTTPConnection(target, timeout=120)
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            data = answer.read()
            if fault is Fault.LOSE:
                self.close_connection = True
                return
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
            upstream.close()
            if fault is Fault.STALL:
                self.wfile.write(data[: len(data) // 2])
                storage.closing.wait()
                self.close_connection = True
            else:
                self.wfile.write(data)

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
