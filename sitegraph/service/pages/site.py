"""All pages of the service, with those of runs and of signing in."""

from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from indexes.wiring import Readers
from sitegraph.actions.health import read_health
from sitegraph.service.pages.answer import add_answer
from sitegraph.service.pages.frame import Pages, find_asset, local_path
from sitegraph.service.pages.opened import add_cite, add_doc, add_near, add_pictures
from sitegraph.service.pages.search import add_search
from sitegraph.service.problems import HttpProblem
from sitegraph.service.readers import LOGIN, LOGOUT, SECONDS, STATIC


def add_runs(app: FastAPI, pages: Pages) -> None:
    """Add the page of runs and health."""

    @pages.get(app, "/runs")
    async def runs(request: Request) -> Response:
        def work(readers: Readers) -> dict[str, Any]:
            return {"health": read_health(readers, pages.parts.archive), "degraded": readers.degraded}

        return await pages.show(request, "runs.html", work)


_FIELDS_MAX = 8
"""More than our forms have."""


def add_login(app: FastAPI, pages: Pages) -> None:
    """Add the form, and what it and the button "Sign out" send to."""

    @pages.get(app, LOGIN)
    async def form(request: Request) -> Response:
        return _form(pages, request, request.query_params.get("next", "/"), wrong=False)

    @app.post(LOGIN, include_in_schema=False)
    async def sign_in(request: Request) -> Response:
        given = await _fields(request)
        session = pages.sessions.begin(given.get("token", "").strip())
        if session is None:
            return _form(pages, request, given.get("next", "/"), wrong=True)
        answer = RedirectResponse(local_path(given.get("next", "/")), status_code=303)
        answer.set_cookie(pages.sessions.cookie, session, max_age=SECONDS, **_strict(request))
        return answer

    @app.post(LOGOUT, include_in_schema=False)
    async def sign_out(request: Request) -> Response:
        session = pages.sessions.current(request.scope)
        given = await _fields(request)
        if session and not pages.sessions.is_form_key(session, given.get("key", "")):
            raise HttpProblem(
                403, "this form does not belong to your session; sign out from a page", "Refused"
            )
        answer = RedirectResponse(LOGIN, status_code=303, headers={"Clear-Site-Data": '"cache"'})
        answer.delete_cookie(pages.sessions.cookie, **_strict(request))
        return answer


def _form(pages: Pages, request: Request, target: str, *, wrong: bool) -> Response:
    if pages.sessions.token is None:
        return RedirectResponse("/", status_code=303)
    values = {"next": local_path(target), "wrong": wrong}
    return pages.respond(request.scope, "login.html", values, status=401 if wrong else 200)


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form; the guard has seen to its length."""
    body = (await request.body()).decode(errors="replace")
    try:
        fields = parse_qs(body, max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise HttpProblem(422, f"the form has more than {_FIELDS_MAX} fields", "InvalidRequest") from None
    return {name: values[0] for name, values in fields.items()}


def _strict(request: Request) -> dict[str, Any]:
    """Who gets a cookie; TLS may end at the proxy before us, and a lie here harms only the liar."""
    is_https = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").lower())
    return {"httponly": True, "samesite": "strict", "secure": is_https}


_FOR_EVER = "public, max-age=31536000, immutable"


def add_pages(app: FastAPI, pages: Pages) -> None:
    """Add every page, and the files they load."""
    add_search(app, pages)
    add_answer(app, pages)
    add_cite(app, pages)
    add_pictures(app, pages)
    add_doc(app, pages)
    add_near(app, pages)
    add_runs(app, pages)
    add_login(app, pages)
    _add_files(app)


def _add_files(app: FastAPI) -> None:
    @app.get(f"{STATIC}{{name}}", include_in_schema=False)
    async def file(name: str) -> Response:
        found = find_asset(name)
        if found is None:
            raise HttpProblem(404, "no such file", "NotFound")
        return Response(found.data, headers={"Cache-Control": _FOR_EVER}, media_type=found.media_type)
