"""Asking a server that speaks OpenAI's chat completions, well and badly."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from ingest.fetch.completion import MAX_ANSWER, open_completion
from schemas.errors import FetchRefused, FetchTimeout, HostBusy, ParseError, SitegraphError

MESSAGES = ({"role": "user", "content": "Who keeps the key?"},)
SCHEMA = {"type": "object"}


class Server(ThreadingHTTPServer):
    """Answers every POST alike and keeps what was asked."""

    status = 200
    body = b""
    asked: list[tuple[str, dict[str, str], Any]]

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), _Handler)
    server.asked = []
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def ask(server: Server, status: int, body: bytes | dict[str, Any], *, key: str | None = None) -> str:
    server.status, server.body = status, body if isinstance(body, bytes) else json.dumps(body).encode()
    server.asked.clear()
    return open_completion(server.url + "/", model="small", api_key=key, timeout=5)(MESSAGES, SCHEMA)


def content(text: object) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def test_the_question_goes_out_with_its_schema_and_the_answer_comes_back(server: Server) -> None:
    assert ask(server, 200, content('{"entities": []}'), key="s3cret") == '{"entities": []}'
    ((path, headers, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer s3cret"
    assert (body["model"], body["temperature"], body["messages"]) == ("small", 0, list(MESSAGES))
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_without_a_key_none_is_sent(server: Server) -> None:
    ask(server, 200, content("{}"))
    assert "Authorization" not in server.asked[0][1]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (429, b"", HostBusy),
        (503, b"", HostBusy),
        (401, b"{}", FetchRefused),
        (404, b"", FetchRefused),
        (302, b"", FetchRefused),
        (200, b"<html>", ParseError),
        (200, b"", ParseError),
        (200, b"[" * 100_000, ParseError),
        (200, b" " * (MAX_ANSWER + 1), ParseError),
        (200, {"choices": []}, ParseError),
        (200, {"error": "overloaded"}, ParseError),
        (200, {"choices": [{"message": None}]}, ParseError),
        (200, content(None), ParseError),
        (200, content({"entities": []}), ParseError),
    ],
)
def test_a_bad_answer_is_an_error_that_names_the_server(
    server: Server, status: int, body: bytes | dict[str, Any], error: type[SitegraphError]
) -> None:
    with pytest.raises(error) as raised:
        ask(server, status, body, key="s3cret")
    assert raised.value.subject == f"{server.url}/chat/completions"
    assert "s3cret" not in str(raised.value)
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_one_to_try_later() -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(FetchTimeout, match="does not answer"):
        open_completion(url, model="small", api_key=None, timeout=5)(MESSAGES, SCHEMA)
