"""Readers by token: each is led to the index of what they may see, and to no other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from indexes.audiences import FOLDER
from schemas.access import ReaderToken
from sitegraph.service.problems import HttpProblem
from sitegraph.service.sessions import Sessions, same


def bearer_token(headers: Headers) -> str | None:
    """The token of a request; another scheme is for a proxy before us, and a browser sends it every time."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def find_reader(readers: tuple[ReaderToken, ...], token: str) -> ReaderToken | None:
    """Return who has a token; looks at all of them, so that the time says nothing of which."""
    digest = sha256(token.encode(errors="replace")).hexdigest()
    found = [reader for reader in readers if compare_digest(reader.sha256, digest)]
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


class AudienceRouter:
    """Leads each request to the application of its reader's audience; *default* has those of nobody.

    Args: audiences: names of applications by that of the reader. always: names the application of a request
    that does not depend on who asks.
    """

    def __init__(
        self,
        applications: Mapping[str, ASGIApp],
        audiences: Mapping[str, str],
        sessions: ReaderSessions,
        *,
        default: str,
        always: Callable[[Scope], str | None] = lambda _: None,
    ) -> None:
        self._applications = applications
        self._audiences = audiences
        self._sessions = sessions
        self._default = default
        self._always = always

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._applications[self._audience(scope)](scope, receive, send)

    def _audience(self, scope: Scope) -> str:
        if scope["type"] != "http":
            return self._default
        if (always := self._always(scope)) is not None:
            return always
        given = bearer_token(Headers(scope=scope))
        if given is not None:
            reader = find_reader(self._sessions.readers, given)
        else:
            reader = self._sessions.reader_of(scope)
        return self._default if reader is None else self._audiences[reader.name]


class FailClosed:
    """Wraps the application over a whole index: it answers no more once anything says who may see what.

    A service that began before then would give everybody what is for some.
    """

    def __init__(
        self, app: ASGIApp, *, whole: Path, problem: Callable[[Scope, HttpProblem], Response]
    ) -> None:
        self._app = app
        self._folder = whole / FOLDER
        self._began_so = self._folder.is_dir()
        self._problem = problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._began_so or not self._folder.is_dir():
            await self._app(scope, receive, send)
            return
        why = "access rules were added after this service started; restart it"
        await self._problem(scope, HttpProblem(503, why, "Restart"))(scope, receive, send)
