"""What all pages share: how a page gets the opened index, its navigation, its errors.

To add a page `/near/{node_id}`:

1. `pages/near.py` with `def add_near(app: FastAPI, pages: Pages) -> None`, which decorates a handler with
   `@pages.get(app, "/near/{node_id}")`. The handler returns `await pages.show(request, "near.html", work)`;
   `work(readers)` runs in a thread, under the limits of the service, and returns what the template needs.
   Raise `HttpProblem(404, ...)` for what is not there: a browser gets it as a page, everybody else as JSON.
2. `templates/near.html`, which begins `{% extends "base.html" %}` and fills the blocks `title` and `main`.
   Values are escaped; never use `| safe`. A link to a crawled site is written with the macro `live` of
   `parts.html`, which leaves out addresses that are not http or https. No inline script, style or handler:
   the policy refuses them. Files of `static/` are named by `{{ asset("near.js") }}`.
3. A line in `site.py`, and, if it belongs into the navigation, one in `NAVIGATION` below.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from fastapi import Depends, FastAPI, Header
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from indexes.wiring import Readers
from retrieval.bundle.render import tell_version
from schemas.ids import sha256_hex
from schemas.text import replace_unseen
from sitegraph.service.pages.results import Facets, read_asked
from sitegraph.service.parts import Parts
from sitegraph.service.problems import HttpProblem, respond, status_title
from sitegraph.service.readers import LOGIN, STATIC, Sessions, refuse_allow


def wants_html(accept: str | None) -> bool:
    """Whether an Accept header names HTML, as that of every browser does; `*/*` does not.

    Source: RFC 9110, 12.5.1; a weight of 0 means "not acceptable".
    """
    for one in (accept or "").split(","):
        media, *parameters = (part.strip().lower() for part in one.split(";"))
        if media == "text/html":
            return not any(_is_zero(parameter) for parameter in parameters)
    return False


def _is_zero(parameter: str) -> bool:
    name, _, weight = parameter.partition("=")
    return name.strip() == "q" and weight.strip().rstrip("0") in ("", "0.", ".")


FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    name: str
    data: bytes
    media_type: str


@cache
def load_assets(folder: Path = FOLDER) -> Mapping[str, Asset]:
    """Return files of the folder by their own name; `Asset.name` has the first digits of their hash in it."""
    found = {}
    for file in sorted(folder.iterdir()):
        if file.suffix in _TYPES:
            data = file.read_bytes()
            name = f"{file.stem}.{sha256_hex(data)[:12]}{file.suffix}"
            found[file.name] = Asset(name, data, _TYPES[file.suffix])
    return found


def asset_path(name: str) -> str:
    """Return where a page finds the file *name*.

    Raises: KeyError: there is no such file, which is our own mistake.
    """
    return f"{STATIC}{load_assets()[name].name}"


def find_asset(sent_as: str) -> Asset | None:
    """Return the file that is sent as `style.0123456789ab.css`."""
    return next((one for one in load_assets().values() if one.name == sent_as), None)


_TEMPLATES = Path(__file__).parent / "templates"

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""What a page may load: our own files. No script or style stands in a page itself."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Vary": "Accept, Cookie",
}
"""Source: OWASP HTTP Headers Cheat Sheet; `X-Content-Type-Options` is of every answer, pages or not."""


def web_url(url: str | None) -> str | None:
    """Return *url* if a link may lead there: http and https alone, never `javascript:` or `data:`."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


@cache
def templates() -> Environment:
    """Return the environment of all pages.

    Whatever a template shows is escaped, and loses what steers: no page has to remember either.
    """
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_finalize,
    )
    made.globals["asset"] = asset_path
    made.filters["web_url"] = web_url
    made.filters["version_line"] = tell_version
    return made


def respond_html(
    template: str, values: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a page."""
    text = templates().get_template(template).render(values)
    given = {**HEADERS, "Cache-Control": "no-cache", **(headers or {})}
    return Response(text, status, headers=given, media_type="text/html")


def _finalize(value: Any) -> Any:
    return replace_unseen(value) if isinstance(value, str) and not isinstance(value, Markup) else value


NAVIGATION = (("Search", "/search"), ("Answer", "/answer"), ("Runs", "/runs"))
"""Words and paths of the navigation."""

Work = Callable[[Readers], Mapping[str, Any]]
Handler = Callable[..., Awaitable[Response]]


class Pages:
    """Makes pages over the parts of the service, for those who are signed in where that is asked."""

    def __init__(self, parts: Parts, sessions: Sessions) -> None:
        self.parts = parts
        self.sessions = sessions

    def get(self, app: FastAPI, path: str) -> Callable[[Handler], Handler]:
        """Register the handler of a page; to whoever does not ask for HTML nothing is there."""
        checks = [Depends(_for_browsers), Depends(refuse_allow)]
        return app.get(path, include_in_schema=False, dependencies=checks)

    async def show(self, request: Request, template: str, work: Work, *, status: int = 200) -> Response:
        """Return the page that *template* makes of what *work* finds in the current generation.

        Raises: what *work* raises; HttpProblem: too much is waiting already.
        """

        def read(readers: Readers) -> Response:
            of_index = {"generation": readers.generation, "as_of": readers.as_of}
            return self.respond(request.scope, template, {**of_index, **work(readers)}, status=status)

        return await self.parts.threads.run(lambda: self.parts.retriever.read(read))

    def respond(
        self,
        scope: Scope,
        template: str,
        values: Mapping[str, Any],
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return a page that needs no index. Nothing of a service with a token is kept by browsers."""
        kept = {"Cache-Control": "no-store"} if self.sessions.token is not None else {}
        shown = {**self._frame(scope), **values}
        return respond_html(template, shown, status=status, headers={**kept, **(headers or {})})

    def problem(self, scope: Scope, problem: HttpProblem) -> Response:
        """Return a problem as a page to a browser, else as JSON; who must sign in gets the form for it."""
        if not wants_html(Headers(scope=scope).get("accept")):
            return respond(problem)
        values = {
            "status": problem.status,
            "heading": status_title(problem.status),
            "detail": problem.detail,
            "next": _address(scope),
            "method": scope["method"],
            "wrong": False,
            "asked": read_asked(QueryParams(scope.get("query_string", b""))),
            "facets": Facets(sources={}, kinds={}),
            "doc_types": (),
        }
        template = "login.html" if problem.status == 401 else "problem.html"
        return self.respond(scope, template, values, status=problem.status, headers=problem.headers)

    def _frame(self, scope: Scope) -> dict[str, Any]:
        session = self.sessions.current(scope)
        return {
            "navigation": NAVIGATION,
            "path": scope["path"],
            "form_key": self.sessions.form_key(session) if session else None,
            "generation": None,
            "as_of": None,
        }


def _for_browsers(accept: Annotated[str | None, Header()] = None) -> None:
    if not wants_html(accept):
        detail = "Not Found; there is a page here for browsers (Accept: text/html)"
        raise HttpProblem(404, detail, "Refused", {"Vary": "Accept"})


def _address(scope: Scope) -> str:
    """The path and query of a request that can be repeated, else the first page."""
    if scope["method"] != "GET" or scope["path"] == LOGIN:
        return "/"
    query = scope.get("query_string", b"").decode("ascii", errors="replace")
    path = quote(scope["path"], safe="/:")
    return local_path(f"{path}?{query}" if query else path)


def local_path(target: str) -> str:
    """Return *target* if it leads to a page of this service, else the first page.

    A path that begins with two slashes names another host. Source: RFC 3986, 4.2.
    """
    plain = target.isascii() and target.isprintable() and "\\" not in target
    return target if plain and target.startswith("/") and not target.startswith("//") else "/"
