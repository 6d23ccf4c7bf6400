"""A site behind a login, served by Flask with its own sessions: a form, or another host that signs people in.

Both end as sessions do, in the middle of a run if they are told to.
"""

import logging
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from flask import Flask, Response, redirect, request, session
from werkzeug.serving import make_server

USER, PASSWORD = "porter", "th3-c3llar-k3y"
FORM = """<!doctype html><html><head><title>Sign in</title></head><body><main><h1>Sign in</h1>
<form id="login" method="post" action="/login"><input name="user"><input name="word" type="text"></form>
<p>Welcome back to the house of the porter, whose pages are for guests alone, as they have always been.</p>
</main></body></html>"""


@dataclass
class LoginSite:
    """A house of pages.

    `mode` is how it answers who is not logged in: `leads` to a form, `shows` it in place, or `sends` to the
    other host. `session_pages`: so many pages a session lasts; None: as long as it likes.
    """

    mode: str = "leads"
    session_pages: int | None = None
    address: str = ""
    asked: list[str] = field(default_factory=list)
    logins: int = 0
    left: dict[str, int] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    other: str = ""

    def url(self, path: str) -> str:
        """Absolute URL of a path here."""
        return f"http://{self.address}{path}"

    def begin(self) -> None:
        """Begin a session for whoever asks."""
        self.logins += 1
        session["id"] = secrets.token_hex(8)
        if self.session_pages is not None:
            self.left[session["id"]] = self.session_pages

    def knows(self) -> bool:
        """Whether the request comes with a session that goes on."""
        if (name := session.get("id")) is None:
            return False
        if name in self.left:
            self.left[name] -= 1
        return self.left.get(name, 0) >= 0


def _house(site: LoginSite) -> Flask:
    app = Flask("house")
    app.secret_key = secrets.token_hex()

    @app.errorhandler(404)
    def unknown(_: object) -> Response:
        # As many applications do, whoever asks.
        return redirect("/login") if site.mode == "leads" else Response("no", 404)  # type: ignore[return-value]

    @app.get("/login")
    def form() -> str:
        return FORM

    @app.post("/login")
    def log_in() -> Response:
        if (request.form["user"], request.form["word"]) != (USER, PASSWORD):
            return Response(FORM, 403)
        site.begin()
        return redirect("/docs/")  # type: ignore[return-value]

    @app.get("/callback")
    def callback() -> Response:
        if request.args["state"] != session.pop("state", None) or not request.args["code"]:
            return Response("no", 400)
        site.begin()
        return redirect("/docs/")  # type: ignore[return-value]

    @app.get("/docs/")
    @app.get("/docs/<name>")
    def page(name: str = "") -> Response | str:
        if name not in site.pages:
            return unknown(None)
        site.asked.append(request.path)
        if site.knows():
            return site.pages[name]
        if site.mode == "shows":
            return FORM
        if site.mode == "leads":
            return redirect(f"/login?next={request.path}")  # type: ignore[return-value]
        session["state"] = secrets.token_hex(8)
        back = {"redirect_uri": site.url("/callback"), "state": session["state"], "client_id": "house"}
        return redirect(f"http://{site.other}/authorize?{urlencode(back)}")  # type: ignore[return-value]

    return app


def _authority(site: LoginSite) -> Flask:
    """The host that signs people in: who has its cookie is led back at once."""
    app = Flask("authority")

    @app.get("/authorize")
    def authorize() -> Response:
        site.asked.append("authorize")
        if request.cookies.get("known") != PASSWORD:
            return Response(FORM)
        back = {"code": secrets.token_hex(4), "state": request.args["state"]}
        return redirect(f"{request.args['redirect_uri']}?{urlencode(back)}")  # type: ignore[return-value]

    return app


@contextmanager
def _served(app: Flask, host: str) -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server(host, 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{host}:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serve_login_site(site: LoginSite) -> Iterator[LoginSite]:
    """Serve both hosts on loopback."""
    with _served(_authority(site), "127.0.0.2") as site.other, _served(_house(site), "127.0.0.1") as address:
        site.address = address
        yield site
