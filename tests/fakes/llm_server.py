"""A server on loopback that speaks OpenAI's chat completions, as it is told: well, or badly."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from schemas.names import Message

MESSAGES: tuple[Message, ...] = ({"role": "user", "content": "Who keeps the key?"},)
"""Something to ask."""

HUGE = 2_000_000
"""Bytes of the huge answer; more than any client here reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One scripted answer.

    `hang`: say nothing until the server closes. `drip`: seconds between single bytes. `cut`: close after so
    many bytes of the body. `raw`: bytes sent instead of an answer of HTTP.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    drip: float = 0.0
    cut: int | None = None
    raw: bytes | None = None


Script = Reply | Callable[[Asked], Reply]


def say(text: object, *, tokens: int | None = 10, finish: str = "stop", **fields: Any) -> Reply:
    """A well-formed answer of which *text* is the content, with what it cost; *fields* join the message."""
    message = {"role": "assistant", "content": text, **fields}
    answer: dict[str, Any] = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if tokens is not None:
        answer["usage"] = {"prompt_tokens": tokens - 1, "completion_tokens": 1, "total_tokens": tokens}
    return Reply(body=json.dumps(answer).encode())


def refuse(status: int, message: str = "no", **headers: str) -> Reply:
    """An error as OpenAI words it; *headers* with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, headers=named, body=json.dumps({"error": {"message": message}}).encode())


MISBEHAVIOURS: Mapping[str, Reply] = {
    "slow": Reply(body=say("a").body, drip=0.05),
    "hanging": Reply(hang=True),
    "cut off": Reply(body=say("a" * 500).body, cut=100),
    "not HTTP": Reply(raw=b"\x00\x01 this is no answer\r\n\r\n"),
    "empty": Reply(),
    "invalid JSON": Reply(body=b'{"choices": [{"message": {"content": "a"'),
    "JSON of another schema": Reply(body=b'{"answer": "a", "choices": "none"}'),
    "deep JSON": Reply(body=b"[" * 100_000),
    "empty choices": Reply(body=b'{"choices": []}'),
    "content that is no text": say({"text": "a"}),
    "no content": say(None),
    "refusal": say(None, refusal="I cannot help with that."),
    "cut by its own limit": say("The key is", finish="length"),
    "429": refuse(429, "slow down"),
    "429 with Retry-After": refuse(429, "slow down", Retry_After="3600"),
    "500": refuse(500, "out of memory"),
    "401": refuse(401, "wrong key"),
    "404": refuse(404, "no such model"),
    "huge": Reply(body=b" " * HUGE),
    "redirect": Reply(status=302, headers={"Location": "/elsewhere"}),
    "non-UTF-8": Reply(body=b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "claims to be packed": Reply(body=say("a").body, headers={"Content-Encoding": "gzip"}),
}
"""Ways to answer badly, by name; no server at all is a way of its own: see `closed_url`."""


class LlmServer(ThreadingHTTPServer):
    """Gives its scripted answers in turn, the last one again and again, and keeps what it was asked."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, script: tuple[Script, ...]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Asked] = []
        self.was_asked = threading.Event()
        self.closing = threading.Event()
        self._script = list(script)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Base URL, as a client is given it."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def script(self, *answers: Script) -> None:
        """Forget what was asked, and answer like this from now on."""
        with self._lock:
            self._script = list(answers)
            self.asked.clear()

    def prompts(self) -> list[str]:
        """The texts of all messages of each request."""
        return ["\n".join(str(one["content"]) for one in asked.body["messages"]) for asked in self.asked]

    def answer(self, asked: Asked) -> Reply:
        """What to answer now."""
        with self._lock:
            self.asked.append(asked)
            self.was_asked.set()
            script = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        return script if isinstance(script, Reply) else script(asked)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: LlmServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.server.answer(Asked(path=self.path, headers=dict(self.headers), body=body))
        self.close_connection = True
        with suppress(OSError):
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        if reply.hang:
            self.server.closing.wait(60)
        elif reply.raw is not None:
            self.wfile.write(reply.raw)
        else:
            self._send_head(reply)
            self._send_body(reply)

    def _send_head(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()

    def _send_body(self, reply: Reply) -> None:
        if not reply.drip:
            self.wfile.write(reply.body[: reply.cut])
            return
        for byte in reply.body:
            self.wfile.write(bytes([byte]))
            if self.server.closing.wait(reply.drip):
                return

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serve_llm(*answers: Script) -> Iterator[LlmServer]:
    """Serve until the block ends; without answers every question is answered with an empty object."""
    server = LlmServer(answers or (say("{}"),))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def closed_url() -> str:
    """The base URL of a server that is not there."""
    with serve_llm() as server:
        return server.url
