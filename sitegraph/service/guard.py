"""What stands before every request: who may ask, how much, how long; and a line on what became of it."""

import asyncio
import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sitegraph.service.problems import HttpProblem, respond
from sitegraph.service.readers import bearer_token
from sitegraph.service.source import link_header

_ELSEWHERE = "requested by a page of another site"


def check_origin(headers: Mapping[str, str], hosts: Collection[str] | None) -> None:
    """Refuse what a page of another site sends; programs send no origin.

    Source: MCP 2026-07-28, Streamable HTTP, "Security": servers must validate the Origin header.
    """
    origin = headers.get("origin")
    if origin is None:
        return
    known = hosts if hosts is not None else {host_name(headers.get("host", ""))}
    if host_name(origin.partition("://")[2]) not in known:
        raise HttpProblem(403, _ELSEWHERE, "WrongOrigin")


def check_site(method: str, headers: Mapping[str, str]) -> None:
    """Refuse what a page of another site has a browser fetch; a link may lead here from anywhere.

    Such a page is not told the answer, but each of its questions would cost work and stand in the usage log.
    Source: W3C Fetch Metadata Request Headers; web.dev, "Protect your resources from web attacks with Fetch
    Metadata" (a resource isolation policy).
    """
    if is_cross_site(headers) and not (method == "GET" and _is_navigation(headers)):
        raise HttpProblem(403, f"{_ELSEWHERE}; without a token, only a link may lead here", "WrongOrigin")


def is_cross_site(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that a page of another site made it ask, by a link or otherwise."""
    return headers.get("sec-fetch-site", "").lower() == "cross-site"


def host_name(host: str) -> str:
    """Return the name of a Host header without its port: `[::1]:8000` is `[::1]`."""
    bracket = host.find("]")
    colon = host.find(":", bracket + 1)
    return (host if colon < 0 else host[:colon]).lower()


def _is_navigation(headers: Mapping[str, str]) -> bool:
    """Whether the answer becomes a page of its own, in no frame."""
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")


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


@dataclass(frozen=True, slots=True)
class Guard:
    """Wraps an application. *hosts*, where given, are the only names it answers to.

    A page in a browser can have a name of its own lead to this machine and read what a service without
    a token answers; it cannot choose the Host header (DNS rebinding), nor hide that it is of another site
    (`origins`). *admits* says what may pass without the token, *knows* which tokens are right where there are
    several, and *problem* makes the answer to what may not.
    """

    app: ASGIApp
    _: KW_ONLY
    limits: RequestLimits
    token: str | None
    hosts: Collection[str] | None
    log: Callable[[Access], None]
    clock: Callable[[], float]
    source_url: str | None = None
    admits: Callable[[Scope], bool] = lambda _: False
    knows: Callable[[str], bool] | None = None
    problem: Callable[[Scope, HttpProblem], Response] = lambda _, problem: respond(problem)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = self.clock()
        answer = _Answer(scope, send, link_header(self.source_url), self.problem, is_kept=self.token is None)
        try:
            await self._answer(scope, receive, answer)
        finally:
            self.log(
                Access(
                    method=scope["method"],
                    route=getattr(scope.get("route"), "path", "-"),
                    status=answer.status or 500,
                    seconds=self.clock() - started,
                )
            )

    async def _answer(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        deadline = scope[DEADLINE] = asyncio.timeout(self.limits.seconds)
        try:
            self._check_headers(scope)
            async with deadline:
                body = await self._read(receive)
                await self.app(scope, _replay(body, receive), answer)
        except TimeoutError:
            if not deadline.expired():  # a failure inside, which the server logs
                raise
            await answer.give(
                HttpProblem(504, f"took longer than {self.limits.seconds:g} s", "Timeout"), scope, receive
            )
        except HttpProblem as problem:
            await answer.give(problem, scope, receive)

    def _check_headers(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if self.hosts is not None and host_name(headers.get("host", "")) not in self.hosts:
            raise HttpProblem(
                421, "not a name of this service; ask for it by its loopback address", "WrongHost"
            )
        if self.token is not None and scope["path"] not in OPEN_PATHS:
            given = bearer_token(headers)
            if given is not None or not self.admits(scope):
                self._check_token(given)
        if scope["path"] == MCP_PATH:
            check_origin(headers, self.hosts)
        elif self.token is None:
            check_site(scope["method"], headers)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self.limits.body_bytes:
            raise self._too_large()

    def _check_token(self, given: str | None) -> None:
        if given is None or not (self.knows or self._is_token)(given):
            raise HttpProblem(
                401,
                "needs the header Authorization: Bearer TOKEN",
                "Unauthorized",
                {"WWW-Authenticate": "Bearer"},
            )

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self.token or "").encode())

    async def _read(self, receive: Receive) -> bytes:
        """Read the whole body here, where the time runs and too long a one has its own answer."""
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.limits.body_bytes:
                raise self._too_large()
        return body

    def _too_large(self) -> HttpProblem:
        return HttpProblem(413, f"the request body may be at most {self.limits.body_bytes} bytes", "TooLarge")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return the body in one message, then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


@dataclass(slots=True)
class _Answer:
    """Passes an answer on and remembers its status; *is_kept* says whether browsers and proxies may keep it.

    The same address is answered otherwise to whoever shows no token.
    """

    scope: Scope
    send: Send
    link: str
    problem: Callable[[Scope, HttpProblem], Response]
    _: KW_ONLY
    is_kept: bool
    status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = self.scope[STATUS] = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Link"] = self.link
            if not self.is_kept:
                headers.setdefault("Cache-Control", "no-store")  # files of pages say otherwise themselves
        await self.send(message)

    async def give(self, problem: HttpProblem, scope: Scope, receive: Receive) -> None:
        """Answer with a problem, unless an answer has begun."""
        if self.status is None:
            await self.problem(scope, problem)(scope, receive, self)
