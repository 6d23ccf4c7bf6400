"""A small HTTP site on loopback that answers as it is told and remembers what it was asked."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Headers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request as it came in; `at` is monotonic seconds."""

    path: str
    headers: Headers
    at: float


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer.

    `length`: add Content-Length; otherwise the end of the connection ends the body. `raw`: bytes sent
    instead of a well-formed answer. `stall`: seconds to wait before answering. `drip`: seconds between
    single bytes. `reset_after`: cut the connection with a reset after so many body bytes.
    """

    body: bytes = b""
    status: int = 200
    headers: Headers = field(default_factory=dict)
    content_type: str | None = "text/html; charset=utf-8"
    length: bool = True
    raw: bytes | None = None
    stall: float = 0.0
    drip: float = 0.0
    reset_after: int | None = None


Script = Reply | list[Reply] | Callable[[Ask], Reply]
_MISSING = Reply(b"nothing here", 404)


_OF_SITE = ("/robots.txt", "/llms.txt", "/.well-known/tdmrep.json")


class Site:
    """Paths to answers; a list is used up one by one, its last answer staying."""

    def __init__(self, pages: dict[str, Script] | None = None) -> None:
        self.pages: dict[str, Script] = dict(pages or {})
        self.log: list[Ask] = []
        self.origin = ""
        self.address = ""
        self.open_connections = 0
        self.most_connections = 0
        self._lock = threading.Lock()

    def url(self, path: str) -> str:
        """Absolute URL of a path here."""
        return self.origin + path

    def paths(self) -> list[str]:
        """Paths asked for so far, without what tells of the site: robots.txt, llms.txt and the like."""
        named = (ask.path for ask in self.log if ask.path not in _OF_SITE)
        return [path for path in named if not path.endswith("/objects.inv")]

    def reply(self, ask: Ask) -> Reply:
        """What to answer now."""
        with self._lock:
            self.log.append(ask)
            script = self.pages.get(ask.path, _MISSING)
            if isinstance(script, list):
                return script.pop(0) if len(script) > 1 else script[0]
        return script if isinstance(script, Reply) else script(ask)

    def connected(self, change: int) -> None:
        """Count open connections."""
        with self._lock:
            self.open_connections += change
            self.most_connections = max(self.most_connections, self.open_connections)


def with_validators(body: bytes, *, etag: str | None = None, modified: str | None = None) -> Script:
    """A page that answers 304 to a request that sends its validators back verbatim."""
    known = {"ETag": etag, "Last-Modified": modified}
    headers = {name: value for name, value in known.items() if value is not None}

    def answer(ask: Ask) -> Reply:
        same = ask.headers.get("if-none-match") == etag
        if etag is None:
            same = ask.headers.get("if-modified-since") == modified
        return Reply(b"", 304, headers, None) if same else Reply(body, 200, headers)

    return answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def setup(self) -> None:
        super().setup()
        self.server.site.connected(1)

    def finish(self) -> None:
        self.server.site.connected(-1)
        super().finish()

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.site.reply(Ask(self.path, headers, time.monotonic()))
        if reply.stall:
            self.server.closing.wait(reply.stall)
        try:
            self._send(reply)
        except OSError:
            self.close_connection = True

    def _send(self, reply: Reply) -> None:
        if reply.raw is not None:
            self.wfile.write(reply.raw)
            self.close_connection = True
            return
        self.send_response(reply.status)
        if reply.content_type:
            self.send_header("Content-Type", reply.content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if not reply.length or self.close_connection:
            self.send_header("Connection", "close")
        if reply.length and "Content-Length" not in reply.headers and reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self._send_body(reply)

    def _send_body(self, reply: Reply) -> None:
        if reply.reset_after is not None:
            self.wfile.write(reply.body[: reply.reset_after])
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.close_connection = True
        elif reply.drip:
            for index in range(len(reply.body)):
                self.wfile.write(reply.body[index : index + 1])
                if self.server.closing.wait(reply.drip):
                    return
        else:
            self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        """The site keeps its own log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    site: Site
    closing: threading.Event

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is part of the tests."""


@contextmanager
def serve(
    site: Site, *, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> Iterator[Site]:
    """Serve *site* on *host*, a loopback address; port 0 takes a free one."""
    server = _Server((host, port), _Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.site, server.closing = site, threading.Event()
    site.address = f"{host}:{server.server_address[1]}"
    site.origin = f"{'https' if tls else 'http'}://{site.address}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
