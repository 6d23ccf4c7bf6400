"""A receiver on loopback of what programs tell others: spans over OTLP, events of OpenLineage."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Receiver:
    """What came in, by path. `status` is the answer; while `hangs`, there is none."""

    url: str = ""
    status: int = 200
    hangs: bool = False
    bodies: list[tuple[str, bytes]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def environment(self) -> dict[str, str]:
        """The standard variables that lead both kinds here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OPENLINEAGE_URL": self.url}

    def spans(self) -> list[Any]:
        """Spans in the order in which they came, as the messages of OTLP."""
        found: list[Any] = []
        for path, body in self.bodies:
            if path == "/v1/traces":
                request = ExportTraceServiceRequest.FromString(body)
                found += [
                    span for r in request.resource_spans for scope in r.scope_spans for span in scope.spans
                ]
        return found

    def resource(self) -> dict[str, str]:
        """Attributes of the program that sent the first spans."""
        body = next(body for path, body in self.bodies if path == "/v1/traces")
        return attributes(ExportTraceServiceRequest.FromString(body).resource_spans[0].resource)

    def events(self) -> list[dict[str, Any]]:
        """Events of lineage in the order in which they came."""
        return [json.loads(body) for path, body in self.bodies if path == "/api/v1/lineage"]


def attributes(told: Any) -> dict[str, Any]:
    """Attributes of a span or a resource, as plain values."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in told.attributes}


@contextmanager
def receiving(**options: Any) -> Iterator[Receiver]:
    """Receive on a free port."""
    receiver = Receiver(**options)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers.get("Content-Encoding") == "gzip"
            receiver.bodies.append((self.path, gzip.decompress(body) if packed else body))
            if receiver.hangs:
                receiver.closing.wait(300)
                return
            self.send_response(receiver.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
