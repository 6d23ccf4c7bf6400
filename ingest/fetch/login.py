"""A login of a site: what of it each request carries, whether it is lost, and how it is got again.

Cookies go where the standard library's policy lets them: by domain, path and `Secure`, and one without a
domain to its own host alone; whether one is over, that goes by the machine's clock. What answers set is known
until the session ends, and nowhere else.
Source: RFC 6265, 5.3 and 5.4; http.cookiejar.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from types import SimpleNamespace
from typing import Any, cast
from urllib.request import Request

from ingest.fetch.proxies import Credentials
from ingest.urls import owned_site
from schemas.errors import GuardRefused
from schemas.fetch import FetchResult

MOST = 50
"""Cookies of answers that are kept, the newest (RFC 6265, 6.1: at least so many of a domain)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginData:
    """What a login consists of; `repr` shows no value.

    `headers` go to the site's own hosts, `storage` (localStorage, by origin) to scripts of its pages.
    """

    headers: Credentials = field(default_factory=Credentials)
    cookies: tuple[Cookie, ...] = field(default=(), repr=False)
    storage: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)


class SiteLogin:
    """The login of a session; belongs to its event loop.

    Args: data: what is had; None: no login. sign: says by what a result shows that nobody is logged in.
    renew: gets the login again; called once at most. remedy: what a person can do. source: named in errors.
    """

    def __init__(
        self,
        data: LoginData | None = None,
        *,
        credentials: Credentials | None = None,
        sign: Callable[[FetchResult], str | None] | None = None,
        renew: Callable[[], LoginData] | None = None,
        remedy: str = "",
        source: str = "",
    ) -> None:
        self._fixed = credentials or Credentials()
        self.is_set = data is not None
        self.is_privileged = self.is_set or bool(self._fixed.sites)
        self.renewals = 0
        self._sign, self._renew, self._remedy, self._source = sign, renew, remedy, source
        self._renewing = asyncio.Lock()
        self._hold(data or LoginData())

    def _hold(self, data: LoginData) -> None:
        self.data = data
        self._jar = build_jar(data.cookies)

    def headers_for(self, url: str) -> tuple[tuple[bytes, bytes], ...]:
        """Return what a request for *url* (canonical) carries."""
        if not self.is_set:
            return self._fixed.headers_for(url)
        sent = (*self._fixed.headers_for(url), *self.data.headers.headers_for(url))
        headers = {name.lower(): (name, value) for name, value in sent}
        if cookies := cookie_header(self._jar, url):
            headers[b"cookie"] = (b"Cookie", cookies.encode("latin-1", "replace"))
        return tuple(headers.values())

    def take_cookies(self, url: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Note what the answer to *url* sets; nothing where there is no login."""
        message = Message()
        for name, value in headers if self.is_set else ():
            if name.lower() == b"set-cookie":
                message["Set-Cookie"] = value.decode("latin-1")
        if message:
            response = cast(Any, SimpleNamespace(info=lambda: message))
            self._jar.extract_cookies(response, _request(url))
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        own = {(one.domain, one.path, one.name) for one in self.data.cookies}
        kept = [(one.domain, one.path, one.name) for one in self._jar]
        for at in [one for one in kept if one not in own][:-MOST]:
            self._jar.clear(*at)

    async def is_worth_asking_again(self, result: FetchResult, *, since: int) -> bool:
        """Whether a document came without the login, which has been got again by now.

        Args: since: `renewals` when the document was asked for.
        Raises: GuardRefused: the login is lost; ConfigError: what gets it cannot.
        """
        if not self.is_set:
            return False
        why = None if self._sign is None else await asyncio.to_thread(self._sign, result)
        if why is None and result.http_status != 401:
            return False
        async with self._renewing:
            if self.renewals > since:
                return True
            if self._renew is not None and not self.renewals:
                self._hold(await asyncio.to_thread(self._renew))
                self.renewals += 1
                return True
        if why is None:
            return False  # one page that wants another login is no lost one
        again = ", also once it was got again" if self.renewals else ""
        raise GuardRefused(
            f"its login is lost{again}: {result.url} {why}; {self._remedy}; nothing was changed",
            subject=self._source,
        )


class _Policy(DefaultCookiePolicy):
    """A cookie without a domain goes to the host that set it alone; none is for a whole public suffix."""

    def __init__(self) -> None:
        super().__init__(strict_ns_domain=self.DomainStrictNonDomain)

    def set_ok_domain(self, cookie: Cookie, request: Request) -> bool:
        """Whether what was asked with *request* may set a cookie for its domain."""
        is_suffix = cookie.domain.startswith(".") and owned_site(request.full_url).endswith(cookie.domain)
        return not is_suffix and bool(super().set_ok_domain(cookie, request))


def build_jar(cookies: Iterable[Cookie]) -> CookieJar:
    """Return a jar with *cookies*, which sends them where browsers do."""
    jar = CookieJar(_Policy())
    for cookie in cookies:
        jar.set_cookie(cookie)
    return jar


def cookie_header(jar: CookieJar, url: str) -> str:
    """Return the value of `Cookie` for a URL; empty where none goes there."""
    request = _request(url)
    jar.add_cookie_header(request)
    return request.get_header("Cookie", "") or ""


def _request(url: str) -> Request:
    return Request(url)  # noqa: S310 - what jars are asked with; nothing is opened


def cookie_host(url: str) -> str:
    """Name the host of *url* as jars do: in brackets if it is IPv6, under `.local` if it has no dot."""
    host = re.sub(r":[0-9]*$", "", url.partition("://")[2].partition("/")[0])
    return host if "." in host else f"{host}.local"
