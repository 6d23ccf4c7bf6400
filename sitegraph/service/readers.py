"""Readers by token or by the session of a browser: each is led to the index of what they may see."""

import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from indexes.markers import audiences_of, has_audiences, seen_in, settings_of_audience
from indexes.publish.current import read_current
from schemas.access import ReaderToken, allowing, audience_name
from schemas.errors import ConfigError
from schemas.settings import Settings
from sitegraph.service.problems import HttpProblem, unprocessable

SECONDS = 7 * 24 * 3600
"""How long somebody stays signed in."""

LOGIN, LOGOUT, STATIC = "/login", "/logout", "/static/"
_SAFE = ("GET", "HEAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Who is signed in to a service that asks for *token*, if it asks; *now* is seconds since 1970."""

    token: str | None
    now: Callable[[], float]

    @property
    def cookie(self) -> str:
        """Name of the cookie: a host has one of each name for all its ports, so services tell theirs apart.

        Source: RFC 6265, 8.5: cookies do not provide isolation by port.
        """
        return f"sitegraph_session_{self._sign('cookie', '')[:8]}"

    def admits(self, scope: Scope) -> bool:
        """Whether a request may pass without a bearer token: to sign in, or to read while signed in.

        The cookie opens nothing that is not read: a page of another port of this host is of the same site,
        and a browser would send the cookie with its forms. Only signing out takes one, and checks its key.
        """
        path, method = scope["path"], scope["method"]
        if path == LOGIN or (path.startswith(STATIC) and method in _SAFE):
            return True
        return (method in _SAFE or path == LOGOUT) and self.current(scope) is not None

    def current(self, scope: Scope) -> str | None:
        """Return the session of a request, None where there is no valid one."""
        return self._valid(scope, lambda given, until: same(given, self._sign("session", until)))

    def begin(self, token: str) -> str | None:
        """Return a new session for whoever knows the token, None for who does not."""
        if self.token is None or not same(token, self.token):
            return None
        return self._new(lambda until: self._sign("session", until))

    def form_key(self, session: str) -> str:
        """Return what a form of this session contains, and no page of another can know."""
        return self._sign("form", session)

    def is_form_key(self, session: str, given: str) -> bool:
        """Whether a form was given out to this session."""
        return same(given, self.form_key(session))

    def _valid(self, scope: Scope, is_signed: Callable[[str, str], bool]) -> str | None:
        value = HTTPConnection(scope).cookies.get(self.cookie, "") if self.token is not None else ""
        until, _, given = value.partition(".")
        if not (until.isascii() and until.isdecimal() and len(until) < 16 and int(until) > self.now()):
            return None
        return value if is_signed(given, until) else None

    def _new(self, sign: Callable[[str], str]) -> str:
        until = str(int(self.now()) + SECONDS)
        return f"{until}.{sign(until)}"

    def _sign(self, purpose: str, value: str) -> str:
        signed = f"sitegraph {purpose}\0{value}".encode()
        return hmac.new((self.token or "").encode(), signed, "sha256").hexdigest()


def same(given: str, right: str) -> bool:
    """Compare in a time that says nothing of where they differ."""
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())


def bearer_token(headers: Headers) -> str | None:
    """The token of a request; another scheme is for a proxy before us, and a browser sends it every time."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def find_reader(readers: tuple[ReaderToken, ...], token: str) -> ReaderToken | None:
    """Return who has a token; looks at all of them, so that the time says nothing of which."""
    digest = sha256(token.encode(errors="replace")).hexdigest()
    found = [reader for reader in readers if hmac.compare_digest(reader.sha256, digest)]
    return found[0] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSessions(Sessions):
    """Sessions of a service with several tokens: `token` is a secret of the service, known to its workers.

    A session says which of the readers it is of by its signature alone.
    """

    readers: tuple[ReaderToken, ...]

    def current(self, scope: Scope) -> str | None:
        """Return the session of a request, None where there is no valid one."""
        return self._valid(scope, lambda given, until: self._signer(given, until) is not None)

    def reader_of(self, scope: Scope) -> ReaderToken | None:
        """Return whose session a request has, None where there is no valid one."""
        until, _, given = (self.current(scope) or "").partition(".")
        return self._signer(given, until) if given else None

    def begin(self, token: str) -> str | None:
        """Return a new session for a reader, None for whoever is none."""
        reader = find_reader(self.readers, token)
        return None if reader is None else self._new(lambda until: self._sign_for(reader, until))

    def _signer(self, given: str, until: str) -> ReaderToken | None:
        return next((one for one in self.readers if same(given, self._sign_for(one, until))), None)

    def _sign_for(self, reader: ReaderToken, until: str) -> str:
        return self._sign(f"session {reader.sha256}", until)


@dataclass(frozen=True, slots=True)
class AudienceRouter:
    """Leads each request to the application of its reader's audience; *default* has those of nobody.

    Args: audiences: names of applications by that of the reader. always: names the application of a request
    that does not depend on who asks.
    """

    applications: Mapping[str, ASGIApp]
    audiences: Mapping[str, str]
    sessions: ReaderSessions
    _: KW_ONLY
    default: str
    always: Callable[[Scope], str | None] = lambda _: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.applications[self._audience(scope)](scope, receive, send)

    def _audience(self, scope: Scope) -> str:
        if scope["type"] != "http":
            return self.default
        if (always := self.always(scope)) is not None:
            return always
        given = bearer_token(Headers(scope=scope))
        if given is not None:
            reader = find_reader(self.sessions.readers, given)
        else:
            reader = self.sessions.reader_of(scope)
        return self.default if reader is None else self.audiences[reader.name]


ALLOW = "allow"
"""What a request says the uses with that its answer may be put to."""


def narrow(settings: Settings, uses: Collection[str]) -> Settings:
    """Return settings of the index of the same readers without what refuses one of *uses*.

    Raises: HttpProblem: there is no such use, or no audience that has a document.
    """
    root, groups = seen_in(Path(settings.index).resolve())
    try:
        wanted = groups | allowing(uses, subject=ALLOW)
    except ConfigError as error:
        raise unprocessable(error) from error
    if wanted == groups:
        return settings
    name = audience_name(wanted)
    found = next((one for one in audiences_of(root) if one.groups == wanted and one.is_built), None)
    if found is None:  # which others there are, and where, is nobody's business
        raise _refused(f"no audience {name}; build it with: sitegraph audiences --add {name}")
    if read_current(found.folder) == 0:
        raise _refused(f"nothing to read: {name} has no document")
    return settings_of_audience(settings, found)


def refuse_allow(request: Request) -> None:
    """Refuse to narrow where nothing is narrowed: who asks that must not be answered from all the rest."""
    if ALLOW in request.query_params:
        raise _refused("not taken here; programs ask /retrieve, or start the service with --allow")


def _refused(why: str) -> HttpProblem:
    return HttpProblem(422, f"{ALLOW}: {why}", "ConfigError")


class FailClosed:
    """Wraps the application over a whole index: it answers no more once anything says who may see what.

    A service that began before then would give everybody what is for some.
    """

    def __init__(
        self, app: ASGIApp, *, whole: Path, problem: Callable[[Scope, HttpProblem], Response]
    ) -> None:
        self._app = app
        self._whole = whole
        self._began_so = has_audiences(whole)
        self._problem = problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._began_so or not has_audiences(self._whole):
            await self._app(scope, receive, send)
            return
        why = "access rules were added after this service started; restart it"
        await self._problem(scope, HttpProblem(503, why, "Restart"))(scope, receive, send)
