"""What stands before every request: who may ask, how much, how long; and a line on what became of it."""

import asyncio
import hmac
from collections.abc import Callable, Collection
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sitegraph.service.origins import check_origin, check_site, host_name
from sitegraph.service.problems import HttpProblem, respond
from sitegraph.service.readers import bearer_token
from sitegraph.service.source import link_header

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Asked by what keeps the process alive, which has no token."""


MCP_PATH = "/mcp"
"""Asked by programs, some of which live in browsers: there the origin of a request is checked, too."""

DEADLINE = "sitegraph.deadline"
"""Key of the scope: the `asyncio.Timeout` of a request, for an answer that is a stream to move."""

STATUS = "sitegraph.status"
"""Key of the scope: the status of its answer, for the connection that it came by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """What one request may cost; `working` and `waiting` are requests of one worker process."""

    body_bytes: int = 64 * 1024
    seconds: float = 15.0
    working: int = 4
    waiting: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A line of the access log: nothing of what was asked, no query string, no header."""

    method: str
    route: str
    status: int
    seconds: float


class Guard:
    """Wraps an application. *hosts*, where given, are the only names it answers to.

    A page in a browser can have a name of its own lead to this machine and read what a service without
    a token answers; it cannot choose the Host header (DNS rebinding), nor hide that it is of another site
    (`origins`). *admits* says what may pass without the token, *knows* which tokens are right where there are
    several, and *problem* makes the answer to what may not.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: RequestLimits,
        token: str | None,
        hosts: Collection[str] | None,
        log: Callable[[Access], None],
        clock: Callable[[], float],
        source_url: str | None = None,
        admits: Callable[[Scope], bool] = lambda _: False,
        knows: Callable[[str], bool] | None = None,
        problem: Callable[[Scope, HttpProblem], Response] = lambda _, problem: respond(problem),
    ) -> None:
        self._app = app
        self._limits = limits
        self._token = token
        self._hosts = hosts
        self._log = log
        self._clock = clock
        self._link = link_header(source_url)
        self._admits = admits
        self._knows = knows or self._is_token
        self._problem = problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = self._clock()
        answer = _Answer(scope, send, self._link, self._problem, kept=self._token is None)
        try:
            await self._answer(scope, receive, answer)
        finally:
            self._log(
                Access(
                    method=scope["method"],
                    route=getattr(scope.get("route"), "path", "-"),
                    status=answer.status or 500,
                    seconds=self._clock() - started,
                )
            )

    async def _answer(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        deadline = scope[DEADLINE] = asyncio.timeout(self._limits.seconds)
        try:
            self._check_headers(scope)
            async with deadline:
                body = await self._read(receive)
                await self._app(scope, _replay(body, receive), answer)
        except TimeoutError:
            if not deadline.expired():  # a failure inside, which the server logs
                raise
            await answer.give(
                HttpProblem(504, f"took longer than {self._limits.seconds:g} s", "Timeout"), scope, receive
            )
        except HttpProblem as problem:
            await answer.give(problem, scope, receive)

    def _check_headers(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if self._hosts is not None and host_name(headers.get("host", "")) not in self._hosts:
            raise HttpProblem(
                421, "not a name of this service; ask for it by its loopback address", "WrongHost"
            )
        if self._token is not None and scope["path"] not in OPEN_PATHS:
            given = bearer_token(headers)
            if given is not None or not self._admits(scope):
                self._check_token(given)
        if scope["path"] == MCP_PATH:
            check_origin(headers, self._hosts)
        elif self._token is None:
            check_site(scope["method"], headers)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._limits.body_bytes:
            raise self._too_large()

    def _check_token(self, given: str | None) -> None:
        if given is None or not self._knows(given):
            raise HttpProblem(
                401,
                "needs the header Authorization: Bearer TOKEN",
                "Unauthorized",
                {"WWW-Authenticate": "Bearer"},
            )

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self._token or "").encode())

    async def _read(self, receive: Receive) -> bytes:
        """Read the whole body here, where the time runs and too long a one has its own answer."""
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._limits.body_bytes:
                raise self._too_large()
        return body

    def _too_large(self) -> HttpProblem:
        return HttpProblem(
            413, f"the request body may be at most {self._limits.body_bytes} bytes", "TooLarge"
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return the body in one message, then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


class _Answer:
    """Passes an answer on and remembers its status; *kept* says whether a browser or a proxy may keep it.

    The same address is answered otherwise to whoever shows no token.
    """

    def __init__(
        self,
        scope: Scope,
        send: Send,
        link: str,
        problem: Callable[[Scope, HttpProblem], Response],
        *,
        kept: bool,
    ) -> None:
        self._scope = scope
        self._send = send
        self._link = link
        self._problem = problem
        self._kept = kept
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = self._scope[STATUS] = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Link"] = self._link
            if not self._kept:
                headers.setdefault("Cache-Control", "no-store")  # files of pages say otherwise themselves
        await self._send(message)

    async def give(self, problem: HttpProblem, scope: Scope, receive: Receive) -> None:
        """Answer with a problem, unless an answer has begun."""
        if self.status is None:
            await self._problem(scope, problem)(scope, receive, self)
