"""Somebody who is told of alarms: an HTTP server on the loopback interface that keeps what is posted."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """What came in, oldest first."""

    url: str
    messages: list[Any] = field(default_factory=list)

    def about(self, alarm: str) -> list[Any]:
        """Messages that name an alarm."""
        return [message for message in list(self.messages) if alarm in json.dumps(message)]


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Listen on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.messages.append(json.loads(body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Receiver(url=f"http://127.0.0.1:{server.server_port}/alarms")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
