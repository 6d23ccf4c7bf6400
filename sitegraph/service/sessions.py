"""Sessions of browsers: a cookie that whoever knows the token was given, and that says nothing else.

A session is kept nowhere: any worker can check its signature, and a new token ends all sessions.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.types import Scope

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
