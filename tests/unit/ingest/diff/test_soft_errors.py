"""Error pages of real software, made by running it."""

import asyncio
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest

from ingest.diff.page_features import extract_features
from ingest.diff.soft_errors import find_soft_error
from schemas.documents import SoftError
from tests.quality.html_sites import parse

URI = "http://docs.example/guide/page.html"


def told(data: bytes) -> SoftError | None:
    return find_soft_error(extract_features(parse(data, URI), data))


def fail() -> None:
    """Fail as a view does that asks for what is not there."""
    tides: list[int] = []
    tides.pop()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder and writes no log."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def folder_server(folder: Path) -> Iterator[str]:
    """The standard library's server over a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def body(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bytes(answer.read())
    except HTTPError as error:
        with error:
            return error.read()


def test_what_the_standard_librarys_server_says_is_known(tmp_path: Path) -> None:
    with folder_server(tmp_path) as address:
        assert told(body(f"{address}/missing")) == SoftError(reason="an error page", sure=True)
        assert told(body(address)) == SoftError(reason="an empty folder", sure=True)
        (tmp_path / "almanac.html").write_text("<p>Tides</p>")
        assert told(body(address)) is None, "a listing of files is content"


@pytest.mark.parametrize("path", ["/boom", "/deny", "/busy", "/away", "/nowhere"])
def test_what_flask_says_is_known(path: str) -> None:
    from flask import Flask, abort

    app = Flask("kites")
    app.add_url_rule("/boom", "boom", fail)
    app.add_url_rule("/deny", "deny", lambda: abort(403))
    app.add_url_rule("/busy", "busy", lambda: abort(429))
    app.add_url_rule("/away", "away", lambda: abort(503))
    error = told(app.test_client().get(path).data)
    assert error is not None
    assert error.sure


def test_the_page_of_werkzeugs_debugger_is_known() -> None:
    from werkzeug.debug import DebuggedApplication
    from werkzeug.test import Client

    def application(environ: object, start_response: object) -> list[bytes]:
        fail()
        return []

    page = Client(DebuggedApplication(application, evalex=True)).get("/boom").data
    assert told(page) == SoftError(reason="a debug page of a framework", sure=True)


@pytest.mark.parametrize("debug", [True, False])
def test_what_starlette_says_is_known(debug: bool) -> None:
    from starlette.middleware.errors import ServerErrorMiddleware
    from starlette.requests import Request

    middleware = ServerErrorMiddleware(lambda *_: None, debug=debug)  # type: ignore[arg-type,return-value]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"accept", b"text/html")]}
    try:
        fail()
    except IndexError as error:
        answer = (middleware.debug_response if debug else middleware.error_response)(Request(scope), error)
    error = told(bytes(answer.body))
    assert error is not None
    assert error.sure


@pytest.mark.parametrize("debug", [True, False])
def test_what_aiohttp_says_is_known(debug: bool) -> None:
    page = asyncio.run(aiohttp_page(fail, debug=debug))
    error = told(page)
    assert error is not None
    assert error.sure


async def aiohttp_page(act: Callable[[], None], *, debug: bool) -> bytes:
    """What an aiohttp server answers a browser when a handler fails."""
    from aiohttp import ClientSession, web

    async def handler(request: web.Request) -> web.Response:
        act()
        return web.Response()

    asyncio.get_running_loop().set_debug(debug)
    app = web.Application()
    app.router.add_get("/", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        async with ClientSession() as session:
            answer = await session.get(f"http://127.0.0.1:{port}/", headers={"Accept": "text/html"})
            return await answer.read()
    finally:
        await runner.cleanup()
