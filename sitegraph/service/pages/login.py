"""Signing in with the token of the service, and out again."""

from urllib.parse import parse_qs

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sitegraph.service.pages.frame import Pages, local_path
from sitegraph.service.problems import HttpProblem
from sitegraph.service.sessions import LOGIN, LOGOUT, SECONDS

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
        secure, name = _is_https(request), pages.sessions.cookie
        answer.set_cookie(name, session, max_age=SECONDS, httponly=True, samesite="strict", secure=secure)
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
        secure, name = _is_https(request), pages.sessions.cookie
        answer.delete_cookie(name, httponly=True, samesite="strict", secure=secure)
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


def _is_https(request: Request) -> bool:
    """Whether the browser speaks TLS, to us or to the proxy before us; a lie here harms only the liar."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").lower())
